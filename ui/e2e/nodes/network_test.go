//go:build unix

package nodes

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/ui/e2e/rig"
)

// Seven chains get the same contracts at the same addresses, once. Other code at one address of one chain then ends
// whatever would use the network, and says so.
func TestSevenChainsGetTheSameContractsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "1", "10", "137", base, "42161", "43114", "59144")
	file := w.names(w.direct)
	s := rig.Script{T: t, Env: w.env}
	if *anvilProgram != "" {
		out, _ := s.Runs(1, "network", "check", "--file", file)
		if n := strings.Count(out, "EntryPoint               no code at"); n != len(w.ids) {
			t.Errorf("%d chains lack the entry point:\n%s", n, out)
		}
	}
	w.deploys(file)
	out, _ := s.Runs(0, "network", "check", "--file", file)
	chains := regexp.MustCompile(`(?m)^\S.* \(\d+\) .*$`).Split(out, -1)[1:]
	if len(chains) != len(w.ids) {
		t.Fatalf("%d chains:\n%s", len(chains), out)
	}
	places := func(of string) (all []string) {
		for _, m := range regexp.MustCompile(`(?m)^  ok +(\S+ +0x[0-9a-fA-F]{40})$`).FindAllStringSubmatch(of, -1) {
			all = append(all, strings.Join(strings.Fields(m[1]), " "))
		}
		return all
	}
	first := strings.Join(places(chains[0]), "\n")
	if n := len(places(chains[0])); n < 8 {
		t.Errorf("%d contracts", n)
	}
	for i, c := range chains {
		if got := strings.Join(places(c), "\n"); got != first {
			t.Errorf("chain %s has\n%s\nthe first one has\n%s", w.ids[i], got, first)
		}
	}
	for _, id := range w.ids { // the nodes have them there
		for line := range strings.Lines(first) {
			name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
			var code hexutil.Bytes
			if w.ask(id, &code, "eth_getCode", at, "latest"); len(code) == 0 {
				t.Errorf("chain %s has no %s at %s", id, name, at)
			}
		}
	}
	before := map[string]uint64{}
	for _, id := range w.ids {
		before[id] = w.nonce(id, w.rich)
	}
	if out := w.deploys(file); !strings.Contains(out, "nothing is missing on 7 chains") {
		t.Errorf("a second run says\n%s", out)
	}
	for _, id := range w.ids {
		if n := w.nonce(id, w.rich); n != before[id] {
			t.Errorf("a second run sends %d transactions on chain %s", n-before[id], id)
		}
	}

	s.Runs(0, "profile", "add", "nodes", "--networks", file, "--vault", "file")
	s.Runs(0, "accounts", "add", "--type", "kernel-v3.3-ecdsa", "--signer", w.rich.Hex())
	s.Runs(0, "chains")
	at := common.HexToAddress(regexp.MustCompile(`Window (0x\w+)`).FindStringSubmatch(first)[1])
	var right hexutil.Bytes
	w.ask("137", &right, "eth_getCode", at, "latest")
	wrong := hexutil.Bytes{0x60, 0x01}
	w.ask("137", nil, "anvil_setCode", at, wrong)
	for _, c := range []struct {
		code int
		args []string
	}{
		{1, []string{"network", "check", "--file", file}},
		{2, []string{"network", "deploy", "--file", file, "--key-file", filepath.Join(filepath.Dir(file), "payer"),
			"--yes"}},
		{1, []string{"balances"}}, {1, []string{"chains"}},
	} {
		out, errs, code := rig.Run(t, w.env, c.args...)
		for _, want := range []string{"Polygon", at.Hex(), crypto.Keccak256Hash(right).Hex(),
			crypto.Keccak256Hash(wrong).Hex()} {
			if code == 0 || !strings.Contains(out+errs, want) {
				t.Errorf("%v with other code at %s: code %d, without %s:\n%s%s", c.args, at, code, want, out, errs)
			}
		}
	}
	w.ask("137", nil, "anvil_setCode", at, right)
	s.Runs(0, "chains")
}
