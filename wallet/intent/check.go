package intent

import (
	"fmt"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/pattern"
	"coffer/api/text"
)

var (
	reNetwork = pattern.New(`^0x[0-9a-f]{64}$`)
	reDecimal = pattern.New(`^(|0|[1-9][0-9]{0,77})$`)
)

// maxFunction bounds the display signature of a call, in bytes.
const maxFunction = 512

func failure(path, expected, got string) api.Failure {
	if got == "" {
		got = "nothing"
	}
	return api.Failure{Path: path, Expected: expected, Got: text.Clean(got, 80)}
}

// checkDraft applies the rules that the interface does not have: version, kind, network id, checksums, decimal values.
func checkDraft(d Draft) []api.Failure {
	var fs []api.Failure
	fail := func(path, expected, got string) { fs = append(fs, failure(path, expected, got)) }
	if d.Version != Version {
		fail("version", fmt.Sprintf("version %d", Version), strconv.Itoa(d.Version))
	}
	if d.Interface != "" && d.Interface != InterfaceV1 {
		fail("interface", "v3, v1 or nothing", d.Interface)
	}
	if !reNetwork.MatchString(d.Network) {
		fail("network", "a network id: 0x and 64 lower-case hex digits", d.Network)
	}
	if d.Interface == InterfaceV1 && len(d.Accounts) != 1 {
		fail("accounts", "exactly one EVM account for v1", fmt.Sprintf("%d accounts", len(d.Accounts)))
	}
	fs = append(fs, checkKind(d)...)
	for _, a := range addresses(d) {
		if err := caip.CheckEIP55(a.text); err != nil {
			fail(a.path, "an address in lower case or with a correct checksum", a.text)
		}
	}
	for i, c := range d.Calls {
		path := fmt.Sprintf("calls[%d]", i)
		if !reDecimal.MatchString(c.Value) {
			fail(path+".value", "wei as a decimal string", c.Value)
		}
		if len(c.Function) > maxFunction || text.Clean(c.Function, maxFunction) != c.Function {
			fail(path+".function", "a signature of at most 512 printable characters", c.Function)
		}
		if text.Clean(c.Note, MaxNote) != c.Note {
			fail(path+".note", fmt.Sprintf("one line of at most %d printable characters", MaxNote), c.Note)
		}
	}
	if d.Receive != nil && d.Receive.Minimum != "" {
		if v, err := amount.ParseBase(d.Receive.Minimum); err != nil || v.Sign() == 0 {
			fail("receive.minimum", "an amount in base units, more than 0, or nothing", d.Receive.Minimum)
		}
	}
	return fs
}

// checkKind demands the members of the draft's kind and refuses those of the others: what is not in the request must
// not look as if it were.
func checkKind(d Draft) []api.Failure {
	var fs []api.Failure
	refuse := func(path string, present bool, kind string) {
		if present {
			fs = append(fs, failure(path, "nothing: a "+kind+" has no "+path, "a value"))
		}
	}
	switch {
	case d.Exchanges():
		refuse("targetChain", d.TargetChain != "", d.Kind)
		refuse("calls", len(d.Calls) > 0, d.Kind)
		refuse("tokensRequired", len(d.TokensRequired) > 0, d.Kind)
		refuse("allowances", len(d.Allowances) > 0, d.Kind)
		refuse("fundWith", d.FundWith != "", d.Kind)
		refuse("validAfter", d.ValidAfter != "", d.Kind)
		refuse("validUntil", d.ValidUntil != "", d.Kind)
		refuse("overrides", len(d.Overrides) > 0, d.Kind)
		if d.Pay == nil {
			fs = append(fs, failure("pay", "what is paid: asset and amount", ""))
		}
		if d.Receive == nil {
			fs = append(fs, failure("receive", "what is received: an asset", ""))
		}
	case d.Kind != "":
		fs = append(fs, failure("kind", "call, swap, transfer or nothing", d.Kind))
	default:
		refuse("pay", d.Pay != nil, KindCall)
		refuse("receive", d.Receive != nil, KindCall)
	}
	return fs
}

type located struct{ path, text string }

// addresses returns every well-formed EVM address of the draft; malformed ones are reported by the interface's rules.
func addresses(d Draft) []located {
	var out []located
	add := func(path, a string) {
		if _, err := caip.ParseAddress(a); err == nil {
			out = append(out, located{path, a})
		}
	}
	for i, a := range d.Accounts {
		path := fmt.Sprintf("accounts[%d].", i)
		add(path+"accountAddress", a.AccountAddress)
		add(path+"signerAddress", a.SignerAddress)
		add(path+"sessionAddress", a.SessionAddress)
		add(path+"adminAddress", a.AdminAddress)
	}
	for i, c := range d.Calls {
		add(fmt.Sprintf("calls[%d].to", i), c.To)
	}
	for i, a := range d.TokensRequired {
		add(fmt.Sprintf("tokensRequired[%d].assetType", i), after(a.AssetType))
	}
	for i, a := range d.Allowances {
		add(fmt.Sprintf("allowanceRequirements[%d].assetType", i), after(a.AssetType))
		add(fmt.Sprintf("allowanceRequirements[%d].spender", i), a.Spender)
	}
	add("fromAssetId", after(d.FundWith))
	for i, o := range d.Overrides {
		add(fmt.Sprintf("overrides[%d].address", i), o.Address)
	}
	if d.Pay != nil {
		add("pay.asset", after(d.Pay.Asset))
	}
	if d.Receive != nil {
		add("receive.asset", after(d.Receive.Asset))
		add("receive.account", after(d.Receive.Account))
	}
	return out
}

// after returns what stands behind the last colon: the address of a CAIP-10 account, the reference of a CAIP-19 asset.
func after(s string) string { return s[strings.LastIndexByte(s, ':')+1:] }
