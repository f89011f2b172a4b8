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
