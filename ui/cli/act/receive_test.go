package act

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/go-json-experiment/json"

	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/qr"
)

// TestReceivePrintsARequestThatTransferReads: the link that one command prints is what another one pays.
func TestReceivePrintsARequestThatTransferReads(t *testing.T) {
	r := newRig(t)
	r.s.Network.Kind = network.Embedded
	r.done(0, "receive", "--amount", "25", "--asset", "usdc", "--chain", "base")
	own := present.Checksummed(account)
	link := "ethereum:" + usdc + "@8453/transfer?address=" + own + "&uint256=25000000"
	if out := r.out.String(); !strings.Contains(out, "25 USDC on Base") || !strings.Contains(out, " "+link+"\n") ||
		strings.Contains(out, "▀") || !strings.Contains(r.err.String(), "Real coins sent to this address are lost.") {
		t.Errorf("%s%s", out, r.err.String())
	}
	r.done(0, "receive", "--json", "--asset", "usdc@base", "--amount", "25")
	var facts []receiveFact
	if err := json.Unmarshal(r.out.Bytes(), &facts); err != nil || len(facts) != 1 || facts[0].Request != link ||
		facts[0].Address != own || facts[0].Amount != "25000000" || !strings.HasSuffix(facts[0].Asset,
		strings.ToLower(usdc)) {
		t.Errorf("%v %s", err, r.out.String())
	}
	r.s.Accounts[0].AccountAddress = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0" // the payer is another person
	r.run("transfer", facts[0].Request, "--dry-run")
	if len(r.started) == 0 || !strings.Contains(strings.ToLower(r.started[0].Draft().Calls[0].Data),
		strings.ToLower(account[2:])) {
		t.Errorf("nothing is paid: %s%s", r.out.String(), r.err.String())
	}
}

func TestReceiveDrawsTheCodeOnATerminal(t *testing.T) {
	r := newRig(t)
	r.c.Code = &qr.Look{Dark: true, Profile: colorprofile.ANSI256}
	r.done(0, "receive")
	q, err := qr.New(present.Checksummed(account))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(q.Lines(*r.c.Code, receiveQuiet), "\n"); !strings.Contains(r.out.String(), want) {
		t.Errorf("%s", r.out.String())
	}
	r.c.Code = &qr.Look{ASCII: true}
	r.done(0, "receive", "--asset", "usdc@base")
	for line := range strings.Lines(r.out.String()) {
		if strings.Contains(line, "##") {
			t.Fatal("a code of more than 80 columns is drawn")
		}
	}
}

func TestReceiveSaysWhatIsMissing(t *testing.T) {
	r := newRig(t)
	for words, want := range map[string]string{
		"--amount 5": "needs --asset", "--asset usdc": "say on which chain", "--asset usdc@base --amount x": "x",
		"--asset nothing@base": "no asset", "--asset sol": "no account on Solana",
	} {
		code, err := r.runError(append([]string{"receive"}, strings.Fields(words)...)...)
		if code != 2 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d %v", words, code, err)
		}
	}
}
