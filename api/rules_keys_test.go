package api

import (
	"fmt"
	"strings"
	"testing"
)

const zeroAddress = "0x0000000000000000000000000000000000000000"

// Nobody holds the key of the zero address, so no account can have it, in any request that names one.
func TestTheZeroAddressIsNoKey(t *testing.T) {
	r := rules(t)
	zero := func(account, key string) string {
		before, after, _ := strings.Cut(account, fmt.Sprintf("%q:", key))
		_, after, _ = strings.Cut(after[1:], `"`)
		return fmt.Sprintf(`%s%q:%q%s`, before, key, zeroAddress, after)
	}
	for name, c := range map[string]struct{ account, key string }{
		"session":       {accRole, "sessionAddress"},
		"admin":         {accRole, "adminAddress"},
		"kernel v3.1":   {accKernel31, "signerAddress"},
		"kernel v3.3":   {accKernel33, "signerAddress"},
		"not in EIP-55": {strings.ReplaceAll(accRole, evmOwner, strings.ToLower(evmOwner)), "sessionAddress"},
	} {
		account := zero(c.account, c.key)
		found := map[string][]Failure{
			"accounts[0]." + c.key: r.Prepare(mustParse(t,
				prepareBody(map[string]string{"accounts": "[" + account + "]"}))),
			"account." + c.key: r.PrepareV1(mustParse(t,
				prepareBody(map[string]string{"accounts": "", "account": account}))),
		}
		if c.account != accKernel33 {
			found[c.key] = r.Predict(mustParse(t, account))
		}
		for path, fs := range found {
			if len(fs) != 1 || fs[0].Path != path || fs[0].Expected != WantKeyAddress ||
				!strings.Contains(fs[0].Got, zeroAddress) {
				t.Errorf("%s: %v, want one at %s", name, fs, path)
			}
		}
	}
}
