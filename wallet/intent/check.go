package intent

import (
	"fmt"
	"regexp"
	"strconv"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/text"
)

var (
	reNetwork = regexp.MustCompile(`^0x[0-9a-f]{64}$`)
	reDecimal = regexp.MustCompile(`^(|0|[1-9][0-9]{0,77})$`)
)

// maxFunction bounds the display signature of a call, in bytes.
const maxFunction = 512

// checkDraft applies the rules that the interface does not have: version, network id, checksums, decimal values.
func checkDraft(d Draft) []api.Failure {
	var fs []api.Failure
	fail := func(path, expected, got string) {
		fs = append(fs, api.Failure{Path: path, Expected: expected, Got: text.Clean(got, 80)})
	}
	if d.Version != Version {
		fail("version", fmt.Sprintf("version %d", Version), strconv.Itoa(d.Version))
	}
	if !reNetwork.MatchString(d.Network) {
		fail("network", "a network id: 0x and 64 lower-case hex digits", d.Network)
	}
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
	for i, a := range d.Allowances {
		add(fmt.Sprintf("allowanceRequirements[%d].spender", i), a.Spender)
	}
	for i, o := range d.Overrides {
		add(fmt.Sprintf("overrides[%d].address", i), o.Address)
	}
	return out
}
