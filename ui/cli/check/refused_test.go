package check_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/ui/cli"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// TestTH_V5_LiesAreRefused tells one lie at a time, in the whole document.
func TestTH_V5_LiesAreRefused(t *testing.T) {
	const thief = "1111111111111111111111111111111111111111"
	for name, c := range map[string]struct {
		of     string
		change func(b *bundle)
		code   string
		level  verify.Level
	}{
		"another payee": {"v3-kernel-funded", func(b *bundle) {
			b.Prepared = strings.ReplaceAll(b.Prepared, "93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0", thief)
		}, "U7", verify.Refuse},
		"an extra member": {"v3-kernel-funded", func(b *bundle) {
			b.Prepared = strings.Replace(b.Prepared, `"userOp":{`, `"userOp":{"initCode":"0x",`, 1)
		}, "L4", verify.Refuse},
		"a doubled name": {"v3-kernel-funded", func(b *bundle) {
			b.Prepared = strings.Replace(b.Prepared, `"tamperProofSignature":`,
				`"tamperProofSignature":"0x","tamperProofSignature":`, 1)
		}, "L2", verify.Refuse},
		"another delegate": {"v3-eip7702-same-chain", func(b *bundle) {
			b.Prepared = strings.ReplaceAll(b.Prepared, "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28", "0x"+thief)
		}, "D2", verify.Refuse},
		"a strange paymaster": {"v3-kernel-same-chain", func(b *bundle) {
			b.Prepared = strings.Replace(b.Prepared, `"paymaster":"0xa784e6482bd5edbfe5991b18cbd545ebd46e1cc4"`,
				`"paymaster":"0x`+thief+`"`, 1)
			b.Prepared = strings.Replace(b.Prepared, `"paymaster":"0xa784e6482BD5edbfE5991b18CBD545EBd46E1CC4"`,
				`"paymaster":"0x`+thief+`"`, 1)
			b.Signatures, b.Quote = nil, ""
		}, "U12", verify.Gate},
		"a quote that delivers elsewhere": {"v3-swap-from-solana-to-self", func(b *bundle) {
			b.Quote = strings.Replace(b.Quote, `"recipientAccount":"`,
				`"recipientAccount":"eip155:10:0x`+thief+`","x":"`, 1)
		}, "Q9", verify.Refuse},
		"a quote without an end": {"v3-kernel-funded", func(b *bundle) {
			b.Quote = strings.Replace(b.Quote, `"expirationTimestamp":"1760`, `"expirationTimestamp":"1860`, 1)
		}, "Q10", verify.Refuse},
		"a quote of another account": {"v3-transfer", func(b *bundle) {
			b.Quote = strings.Replace(b.Quote, `"accountAddress":"0x`, `"accountAddress":"0x`+thief+`","x":"`, 1)
		}, "Q2", verify.Refuse},
		"a signature of somebody else": {"v3-kernel-funded", func(b *bundle) {
			b.Signatures.Operation = open(t, "v3-kernel-several-chains").Signatures.Operation
		}, "U15", verify.Refuse},
		"a signature in other digits": {"v3-kernel-funded", func(b *bundle) { b.Signatures.Operation = "zz" }, "U15",
			verify.Refuse},
		"a delegation that is not asked for": {"v3-kernel-funded", func(b *bundle) {
			b.Signatures.Delegation = open(t, "v3-eip7702-funded").Signatures.Delegation
		}, "U15", verify.Refuse},
		"a delegation in another form": {"v3-eip7702-funded", func(b *bundle) { b.Signatures.Delegation.V = "0x1d" },
			"U15", verify.Refuse},
		"a doubled name in a quote": {"v3-kernel-funded", func(b *bundle) {
			b.Quote = strings.Replace(b.Quote, `"id":`, `"Id":"0x","id":`, 1)
		}, "L2", verify.Refuse},
		"half a quote of a swap": {"v3-swap-evm", func(b *bundle) { b.Quote = b.Quote[:len(b.Quote)/2] }, "L2",
			verify.Refuse},
		"an intent with two names": {"v3-swap-evm", func(b *bundle) {
			b.Intent = bytes.Replace(b.Intent, []byte(`"version": 1`), []byte(`"version": 1, "Version": 1`), 1)
		}, "L2", verify.Refuse},
		"another network": {"v3-kernel-funded", func(b *bundle) {
			b.Network = bytes.Replace(b.Network, []byte(`"escrow": "0x0ad6`), []byte(`"escrow": "0x1ad6`), 1)
		}, "V5", verify.Refuse},
		"an intent for another network": {"v3-kernel-funded", func(b *bundle) {
			id := regexp.MustCompile(`"network": "0x[0-9a-f]{64}"`)
			b.Intent = id.ReplaceAll(b.Intent, []byte(`"network": "0x`+strings.Repeat("0", 64)+`"`))
		}, "U14", verify.Refuse},
		"an intent that breaks a rule": {"v3-kernel-funded", func(b *bundle) {
			b.Intent = bytes.Replace(b.Intent, []byte(`"slippageBps": `), []byte(`"slippageBps": 99999`), 1)
		}, "V5", verify.Refuse},
		"an intent of another version": {"v3-kernel-funded", func(b *bundle) {
			b.Intent = bytes.Replace(b.Intent, []byte(`"version": 1`), []byte(`"version": 2`), 1)
		}, "V5", verify.Refuse},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, c.of)
			c.change(&b)
			path := saveBundle(t, b)
			out, code, err := run(t, "verify", path, "--now", "saved", "--json")
			if code != cli.ExitRefused {
				t.Fatalf("exit %d, %v\n%s", code, err, out)
			}
			if r := result(t, out); r.Accepted || !slices.Contains(codes(r, c.level), c.code) {
				t.Fatalf("%v, expected %s: %s", codes(r, c.level), c.code, out)
			}
			text, code, _ := run(t, "verify", path, "--now", "saved")
			if code != cli.ExitRefused || !strings.HasPrefix(text, "REFUSED\n") ||
				!strings.Contains(text, strings.ToUpper(string(c.level))) {
				t.Fatalf("exit %d\n%s", code, text)
			}
		})
	}
}

func TestTH_V5_AQuoteIsNotJudgedWhereItsCallIsRefused(t *testing.T) {
	b := open(t, "v3-kernel-funded")
	b.Prepared = strings.ReplaceAll(b.Prepared, "93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0", strings.Repeat("11", 20))
	out, code, _ := run(t, "verify", saveBundle(t, b), "--now", "saved", "--json")
	r := result(t, out)
	if code != cli.ExitRefused || len(r.Reviews) != 2 || r.Reviews[1].Accepted ||
		!slices.Contains(codes(r, verify.Unknown), "Q14") || r.Reviews[1].Quote != nil {
		t.Fatal(out)
	}
}

func TestTH_X1_ARequestThatIsNotThePreparedAnswerIsRefused(t *testing.T) {
	f := files(t, open(t, "v3-kernel-funded"))
	body, err := os.ReadFile(f["request"])
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, code string }{
		"slippage":       {`"slippageTolerance":50`, `"slippageTolerance":500`, "X1"},
		"added":          {`"slippageTolerance"`, `"more":1,"slippageTolerance"`, "X1"},
		"gas":            {`"callGasLimit":"`, `"callGasLimit":"1`, "X1"},
		"signature":      {`"signature":"0x`, `"signature":"0x0`, "U15"},
		"no signature":   {`"signature":"0x`, `"signature":7,"x":"`, "U15"},
		"doubled name":   {`"slippageTolerance":50`, `"slippageTolerance":50,"slippageTolerance":50`, "L2"},
		"order, spacing": {`,"slippageTolerance":50}`, "\n , \"slippageTolerance\" : 50 }", ""},
	} {
		changed := bytes.Replace(body, []byte(c.from), []byte(c.to), 1)
		if bytes.Equal(changed, body) {
			t.Fatalf("%s: not applied", name)
		}
		other := save(t, map[string][]byte{"request": changed})["request"]
		out, code, err := run(t, "verify", f["intent"], f["network"], f["prepared"], "--request", other, f["quote"],
			"--now", when, "--json")
		if c.code == "" {
			if code != 0 {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
			continue
		}
		if r := result(t, out); code != cli.ExitRefused || !slices.Contains(codes(r, verify.Refuse), c.code) {
			t.Errorf("%s: exit %d, %v", name, code, codes(r, verify.Refuse))
		}
	}
}

func TestTH_V5_ExpiryIsJudgedAtThePresentUnlessATimeIsNamed(t *testing.T) {
	path := goldenDir + "v3-swap-evm.json"
	for args, want := range map[string]int{"": 4, "--now saved": 0, "--now 1760000000": 0,
		"--now 2025-10-09T10:53:20+02:00": 0, "--now 1760000900": 4, "--now 2025-10-09T08:00:00Z": 4} {
		out, code, err := run(t, append([]string{"verify", path}, strings.Fields(args)...)...)
		if code != want {
			t.Errorf("%q: exit %d, %v", args, code, err)
		}
		if args == "" && (!strings.Contains(out, "the present") || !strings.Contains(out, "REFUSE Q10")) {
			t.Error(out)
		}
	}
}

func TestPolicyFileLimitsWhatIsAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		of, policy, code string
	}{
		"within": {"v3-kernel-funded",
			"version = 1\nmax_spend_usd = \"1000\"\nrecipients = [\"0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0\"]\n",
			""},
		"chain": {"v3-kernel-funded", "version = 1\nchains = [\"eip155:1\"]\n", "Y1"},
		"recipient": {"v3-kernel-funded",
			"version = 1\nrecipients = [\"0x1111111111111111111111111111111111111111\"]\n", "Y2"},
		"contract": {"v3-kernel-funded",
			"version = 1\ncontracts = [\"0x1111111111111111111111111111111111111111\"]\n", "Y3"},
		"spend":          {"v3-kernel-funded", "version = 1\nmax_spend_usd = \"1\"\n", "Y4"},
		"spend of a day": {"v3-kernel-funded", "version = 1\nmax_spend_per_day_usd = \"1\"\n", "Y5"},
		"cost":           {"v3-swap-evm", "version = 1\nmax_cost_bps = 1\n", "Y6"},
		"delegation":     {"v3-eip7702-same-chain", "version = 1\nnever_delegate = true\n", "Y7"},
		"slippage":       {"v3-swap-evm", "version = 1\nmax_slippage_bps = 1\n", "Y8"},
	} {
		policy := save(t, map[string][]byte{"policy": []byte(c.policy)})["policy"]
		out, code, err := run(t, "verify", goldenDir+c.of+".json", "--now", "saved", "--policy", policy, "--json")
		switch r := result(t, out); {
		case c.code == "" && code != 0:
			t.Errorf("%s: %v\n%s", name, err, out)
		case c.code != "" && (code != cli.ExitRefused || !slices.Contains(codes(r, verify.Refuse), c.code)):
			t.Errorf("%s: exit %d, %v", name, code, codes(r, verify.Refuse))
		case r.Policy == "":
			t.Errorf("%s: the policy is not named", name)
		}
	}
}

func TestAnOpenGateNamesTheSentenceToType(t *testing.T) {
	b := open(t, "v3-kernel-same-chain")
	at := strings.Index(b.Prepared, `"paymaster":"0x`) + len(`"paymaster":"0x`)
	b.Prepared = b.Prepared[:at] + strings.Repeat("11", 20) + b.Prepared[at+40:]
	b.Signatures, b.Quote = nil, ""
	f := save(t, map[string][]byte{"intent": b.Intent, "network": b.Network, "prepared": []byte(b.Prepared),
		"policy": []byte("version = 1\nallow = [\"unknown-paymaster\"]\n")})
	args := []string{"verify", f["intent"], f["network"], f["prepared"], "--now", when}
	out, code, _ := run(t, args...)
	if code != cli.ExitRefused || !strings.Contains(out, "GATE (closed) U12") ||
		!strings.Contains(out, "unknown-paymaster") || strings.Contains(out, "review code") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	out, code, err := run(t, append(args, "--policy", f["policy"])...)
	if code != 0 || !strings.Contains(out, "GATE (open) U12") || !strings.Contains(out, "I trust this paymaster") ||
		!strings.Contains(out, "review code") {
		t.Fatalf("exit %d, %v\n%s", code, err, out)
	}
}

func TestAReplacedSessionKeyIsNamedByFlag(t *testing.T) {
	b := open(t, "v3-role-based-funded")
	var d intent.Draft
	if err := json.Unmarshal(b.Intent, &d); err != nil {
		t.Fatal(err)
	}
	a := d.Accounts[0]
	path := saveBundle(t, b)
	if out, code, err := run(t, "verify", path, "--now", "saved", "--first-session",
		a.AccountAddress+"="+a.SessionAddress); code != 0 {
		t.Errorf("%v\n%s", err, out)
	}
	out, code, _ := run(t, "verify", path, "--now", "saved", "--first-session",
		a.AccountAddress+"=0x1111111111111111111111111111111111111111")
	if code != cli.ExitRefused || !strings.Contains(out, "REFUSE U1") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

func TestTH_R1_NothingOfADocumentReachesTheTerminalAsItIs(t *testing.T) {
	b := open(t, "v3-kernel-funded")
	const attack = `\u001b]52;c;aGk=\u0007\u202e\u200b`
	b.Prepared = strings.Replace(b.Prepared, `"callType":"`, `"`+attack+`":"`+attack+`","callType":"`+attack, 1)
	b.Intent = bytes.Replace(b.Intent, []byte(`"value": "0"`), []byte(`"value": "`+attack+`"`), 1)
	f := save(t, map[string][]byte{"intent": b.Intent, "good": open(t, "v3-kernel-funded").Intent, "network": b.Network,
		"prepared": []byte(b.Prepared)})
	for _, in := range []string{"intent", "good"} {
		for _, args := range [][]string{nil, {"--json"}} {
			out, code, err := run(t, append([]string{"verify", f[in], f["network"], f["prepared"], "--now", when},
				args...)...)
			if code != cli.ExitRefused || strings.ContainsAny(out+err.Error(), "\x1b\x07\u202e\u200b") {
				t.Errorf("%s: exit %d: %q", in, code, out)
			}
		}
	}
}

func TestWhatCannotBeJudgedIsNoResult(t *testing.T) {
	call, swap := files(t, open(t, "v3-kernel-funded")), files(t, open(t, "v3-swap-evm"))
	odd := save(t, map[string][]byte{
		"else": []byte(`{"hello":1}`), "list": []byte(`[]`), "policy": []byte("version = 1\nmax = 1\n"),
		"cut":    []byte(`{"chainOperation":`),
		"bundle": []byte(`{"intent":{},"network":{},"extra":1}`),
		"number": []byte(`{"intent":{},"network":{},"prepared":{}}`),
		"untimed": []byte(`{"intent":` + string(open(t, "v3-swap-evm").Intent) + `,"network":` +
			string(open(t, "v3-swap-evm").Network) + `}`),
	})
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no file":          {nil, 2, "nothing to verify"},
		"network alone":    {[]string{call["network"]}, 2, "the intent is missing"},
		"no network":       {[]string{call["intent"], call["prepared"]}, 2, "network's descriptor is missing"},
		"nothing to judge": {[]string{call["intent"], call["network"]}, 2, "answer to prepare"},
		"quote alone": {[]string{call["intent"], call["network"], call["quote"]}, 2,
			"against the answer to prepare"},
		"request alone": {[]string{call["intent"], call["network"], call["request"]}, 2,
			"against the answer to prepare"},
		"a swap and no quote": {[]string{swap["intent"], swap["network"]}, 2, "quote of the swap"},
		"a swap that is prepared": {[]string{swap["intent"], swap["network"], swap["quote"], call["prepared"]}, 2,
			"nothing that was prepared"},
		"twice":             {[]string{call["intent"], call["intent"]}, 2, "given twice"},
		"twice in a bundle": {[]string{goldenDir + "v3-swap-evm.json", swap["quote"]}, 2, "given twice"},
		"twice by flag":     {[]string{"--quote", swap["quote"], swap["quote"]}, 2, "given twice"},
		"signed twice": {[]string{goldenDir + "v3-kernel-funded.json", call["request"], "--now", "saved"}, 2,
			"signatures are given twice"},
		"something else":      {[]string{odd["else"]}, 2, "none of the documents"},
		"a list":              {[]string{odd["list"]}, 2, "none of the documents"},
		"half a document":     {[]string{odd["cut"]}, 4, "refused"},
		"a bundle with more":  {[]string{odd["bundle"]}, 4, "refused"},
		"a bundle of objects": {[]string{odd["number"]}, 4, "refused"},
		"no such file":        {[]string{"/nowhere/at/all.json"}, 2, "no such file"},
		"a directory":         {[]string{t.TempDir()}, 2, "directory"},
		"time":                {[]string{call["intent"], "--now", "soon"}, 2, "--now takes"},
		"time far off":        {[]string{call["intent"], "--now", "99999999999999"}, 2, "--now takes"},
		"no saved time":       {[]string{call["intent"], "--now", "saved"}, 2, "names its time"},
		"no saved time in it": {[]string{odd["untimed"], "--now", "saved"}, 2, "names its time"},
		"policy not there":    {[]string{call["intent"], "--policy", "/nowhere.toml"}, 2, "no such file"},
		"policy broken": {[]string{call["intent"], "--policy", odd["policy"]}, 2,
			":2:1: max: there is no such setting"},
		"session": {[]string{call["intent"], "--first-session", "0x1=0x2"}, 2, "--first-session takes"},
		"flag":    {[]string{"--colour"}, 2, "unknown flag"},
	} {
		out, code, err := run(t, append([]string{"verify"}, c.args...)...)
		if code != c.code || !strings.Contains(err.Error(), c.says) || strings.Contains(out, "ACCEPTED") {
			t.Errorf("%s: exit %d, %v\n%s", name, code, err, out)
		}
	}
}

func TestTheSchemaOfIntentsIsPrinted(t *testing.T) {
	out, code, err := run(t, "verify", "--schema")
	if code != 0 || !json.Valid([]byte(out)) || !strings.Contains(out, `"$schema"`) {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestTH_V5_VerifyIsLinkedWithNeitherNetworkNorKeys inspects every dependency of the package.
func TestTH_V5_VerifyIsLinkedWithNeitherNetworkNorKeys(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "coffer/wallet/verify", "coffer/wallet/policy",
		"coffer/wallet/intent").Output()
	if err != nil {
		t.Fatal(err)
	}
	own, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "coffer/ui/cli/check").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out) + string(own)) {
		switch p {
		case "coffer/api/client", "coffer/api/service", "coffer/wallet/vault", "coffer/wallet/sign",
			"coffer/wallet/flow", "coffer/wallet/journal":
			t.Errorf("%s is linked", p)
		}
	}
	if strings.Contains("\n"+string(own), "\nnet") {
		t.Errorf("the command itself imports a network: %s", own)
	}
}
