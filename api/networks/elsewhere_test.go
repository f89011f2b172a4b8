package networks

import (
	"reflect"
	"strings"
	"testing"
)

const twoOfTwo = `kind = "lab"
[operator]
owner = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
attesters = ["0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "0x90F79bf6EB2c4f870365E785982E1f101E93b906"]
k = 2
sponsor_usd_per_day = 5
exposure_cap_usd = 1
accounts = "any"
`

func TestAttestersElsewhereAndSignersAreReadAndWritten(t *testing.T) {
	f, err := Parse("/net/f.toml", []byte(twoOfTwo+`
[[operator.elsewhere]]
attester = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
url = "https://attester.example:8444"
ca = "theirs.pem"
key = "${vault:theirs}"
[operator.hot_key]
signer = "web3signer"
url = "http://127.0.0.1:9000"
address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
[operator.attester_key]
signer = "command"
command = ["/usr/bin/sign", "--for", "coffer"]
address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
`+oneChain))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("/net/f.toml", f.Encode())
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Encode())
	}
	for _, o := range []*Operator{f.Operator, again.Operator} {
		o.Line, o.Elsewhere[0].Line, o.HotKey.Line, o.AttesterKey.Line = 0, 0, 0, 0
	}
	want := []Elsewhere{{Attester: second, URL: "https://attester.example:8444", CA: "theirs.pem",
		Key: "${vault:theirs}"}}
	if o := f.Operator; !reflect.DeepEqual(o, again.Operator) || !reflect.DeepEqual(o.Elsewhere, want) ||
		!reflect.DeepEqual(o.HotKey, &Signer{Kind: Web3Signer, URL: "http://127.0.0.1:9000", Address: first}) ||
		!reflect.DeepEqual(o.AttesterKey, &Signer{Kind: Command, Address: first,
			Command: []string{"/usr/bin/sign", "--for", "coffer"}}) {
		t.Errorf("read as %+v, written and read as %+v", f.Operator, again.Operator)
	}
	if got := f.Beside("theirs.pem"); got != "/net/theirs.pem" {
		t.Error(got)
	}
}

// Faults of attesters elsewhere and of signers are told with their place in the file, and no key is repeated.
func TestFaultsOfAttestersElsewhereAndOfSigners(t *testing.T) {
	_, err := Parse("n.toml", []byte(twoOfTwo+`[[operator.elsewhere]]
attester = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
url = "http://attester.example"
key = "cof_secret"
colour = 1
[[operator.elsewhere]]
attester = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
url = "https://a.example/${vault:x}"
[[operator.elsewhere]]
attester = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
url = "https://a.example"
key = "${vault:x}"
[operator.hot_key]
signer = "usb"
[operator.attester_key]
signer = "command"
command = [""]
address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
`+oneChain))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"n.toml:10:1: operator.elsewhere[0].attester: this attester is not in the list attesters",
		"n.toml:11:1: operator.elsewhere[0].url: http is for this machine only",
		"n.toml:12:1: operator.elsewhere[0].key: a key is not in this file",
		"n.toml:13:1: operator.elsewhere[0].colour: there is no such key",
		"operator.elsewhere[1].url: no credential is part of this address",
		"operator.elsewhere[1].key: this key is missing",
		"operator.elsewhere[2].attester: where this attester is reached is in the file already",
		`operator.hot_key.signer: expected "web3signer", "clef" or "command"`,
		"operator.hot_key.address: this key is missing",
		"operator.attester_key.command[0]: expected a program with its arguments",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "cof_secret") {
		t.Error("a key is repeated")
	}
}

// A Clef signs transactions of one chain, so a hot key that is at one has another for each other chain of the file.
func TestAHotKeyAtClefHasOneForEachChain(t *testing.T) {
	const three = oneChain + "[[chains]]\nid = 10\nfee_cap_gwei = 1\nrpc = [\"https://b.example\"]\n" +
		"[[chains]]\nid = 1\nfee_cap_gwei = 1\nrpc = [\"https://c.example\"]\n" +
		"[[chains]]\nid = 137\nfee_cap_gwei = 1\nrpc = []\n"
	const key = "[operator.hot_key]\nsigner = \"clef\"\nurl = \"http://127.0.0.1:8550\"\n" +
		"address = \"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC\"\n"
	f, err := Parse("n.toml", []byte(twoOfTwo+key+"[operator.hot_key.chains]\n10 = \"http://127.0.0.1:8551\"\n"+
		"1 = \"https://clef.example\"\n"+three))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("n.toml", f.Encode())
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Encode())
	}
	want := map[uint64]string{10: "http://127.0.0.1:8551", 1: "https://clef.example"}
	if !reflect.DeepEqual(f.Operator.HotKey.Chains, want) || !reflect.DeepEqual(again.Operator.HotKey.Chains, want) {
		t.Errorf("read as %v, written and read as %v", f.Operator.HotKey.Chains, again.Operator.HotKey.Chains)
	}
	for text, says := range map[string]string{
		key: "n.toml:9:11: operator.hot_key: a Clef signs transactions of one chain (its --chainid), and 8453, 10, 1 " +
			"have none but that of url",
		key + "[operator.hot_key.chains]\n10 = \"http://clef.example\"\n1 = \"https://a.example/${vault:x}\"\n" +
			"5 = \"https://x\"\nbase = \"https://x\"\n": "n.toml:14:1: operator.hot_key.chains.10: http is for this " +
			"machine only",
		strings.Replace(key, "clef", "web3signer", 1) +
			"[operator.hot_key.chains]\n": "operator.hot_key.chains: there is no such key",
		strings.Replace(key, "hot_key", "attester_key", 1) +
			"[operator.attester_key.chains]\n": "operator.attester_key.chains: there is no such key",
	} {
		_, err := Parse("n.toml", []byte(twoOfTwo+text+three))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not in\n%v", says, err)
		}
		if strings.Contains(text, "base =") && err != nil {
			for _, more := range []string{"chains.1: no credential is part of this address",
				"chains.5: this chain is not in the file", "chains.base: expected the number of a chain"} {
				if !strings.Contains(err.Error(), more) {
					t.Errorf("%q is not in\n%v", more, err)
				}
			}
		}
	}
}
