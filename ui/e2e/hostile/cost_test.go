//go:build unix

package hostile

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/ui/e2e/rig"
)

// charges puts a service between that keeps a share of a transfer: of what is paid it says that it is a fee. What goes
// back to the honest service is its own document, so the payment is genuine.
type charges struct {
	testing.TB
	bps      int64
	original map[string]string // by pointer
	charged  int
}

func (c *charges) request(r rig.Request) []byte {
	if r.Path != rig.PathExecute {
		return r.Body
	}
	body := r.Body
	for pointer, old := range c.original {
		body = rig.Splice(body, rig.Attack{Pointer: pointer, Change: rig.To(old)})
	}
	return body
}

func (c *charges) answer(r rig.Request, status int, answer []byte) (int, []byte) {
	if r.Path != rig.PathQuote || status/100 != 2 {
		return status, answer
	}
	doc, err := api.ParseDocument(answer, api.DefaultLimits())
	if err != nil {
		c.Error(err)
		return status, answer
	}
	paid := c.number(doc, "/originToken/amount")
	fee := share(paid, c.bps)
	arrives := new(big.Int).Sub(paid, fee)
	tolerance := share(arrives, 50)
	asset := c.text(doc, "/originToken/assetType/0")
	c.original = map[string]string{}
	for pointer, v := range map[string]string{
		"/fees/assets":                    `{"` + asset + `":"` + fee.String() + `"}`,
		"/destinationToken/amount":        `"` + arrives.String() + `"`,
		"/slippage/destination/value":     `"` + tolerance.String() + `"`,
		"/destinationToken/minimumAmount": `"` + new(big.Int).Sub(arrives, tolerance).String() + `"`,
	} {
		old, ok := doc.At(pointer)
		if !ok {
			c.Errorf("no %s in %s", pointer, answer)
			continue
		}
		c.original[pointer] = string(old)
		answer = rig.Splice(answer, rig.Attack{Pointer: pointer, Change: rig.To(v)})
	}
	c.charged++
	return status, answer
}

func share(v *big.Int, bps int64) *big.Int {
	v = new(big.Int).Mul(v, big.NewInt(bps))
	return v.Quo(v, big.NewInt(10_000))
}

func (c *charges) text(doc *api.Document, pointer string) string {
	raw, _ := doc.At(pointer)
	return strings.Trim(string(raw), `"`)
}

func (c *charges) number(doc *api.Document, pointer string) *big.Int {
	v, ok := new(big.Int).SetString(c.text(doc, pointer), 10)
	if !ok {
		c.Errorf("%s is no number", pointer)
		return new(big.Int)
	}
	return v
}

// TestK5_ACostBeyondTheBoundsIsRefusedOrStopsYes: of 100 a fee of 19.90 is refused, of 20 one of $1 stops --yes, and
// both go on when a person says so on purpose; of a fee below a floor nothing is said.
func TestK5_ACostBeyondTheBoundsIsRefusedOrStopsYes(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	pay := func(amount string, more ...string) []string {
		return append([]string{"transfer", "--asset", "usdc", "--amount", amount, "--to", rig.Payee(t), "--chain", "op",
			"--yes", "--json"}, more...)
	}
	c := &charges{TB: t, bps: 1990}
	b.Behaves(c.answer)
	b.With(func() { b.Recast = c.request })
	executed := func() int { return len(b.Saw(rig.PathExecute)) }
	_, errs := s.Runs(4, pay("100", "--accept", "V4,Q11")...)
	if !strings.Contains(errs, "REFUSE Q11") || !strings.Contains(errs, "--max-cost-bps") || executed() != 0 {
		t.Errorf("executed %d times\n%s", executed(), errs)
	}
	if _, errs = s.Runs(4, pay("100", "--max-cost-bps", "2500", "--accept", "V4")...); !strings.Contains(errs,
		"WARN Q11") || !strings.Contains(errs, "--accept Q11") || executed() != 0 {
		t.Errorf("executed %d times\n%s", executed(), errs)
	}
	s.Runs(0, pay("100", "--max-cost-bps", "2500", "--accept", "V4,Q11")...)
	c.bps = 500
	if _, errs = s.Runs(4, pay("20")...); !strings.Contains(errs, "WARN Q11") ||
		!strings.Contains(errs, "--accept Q11") || executed() != 1 {
		t.Errorf("executed %d times\n%s", executed(), errs)
	}
	s.Runs(0, pay("20", "--accept", "Q11")...)
	c.bps = 505 // of 9 it stays below 50 cents, and above what the payment's own terms let through
	s.Runs(0, pay("9")...)
	if c.charged != 6 || executed() != 3 {
		t.Errorf("charged %d times, executed %d", c.charged, executed())
	}
}

// TestK5_TheDayOfALabHasACap: without a policy file no more than $5,000 are signed for on one day, and what came back
// counts: that it did is the service's word.
func TestK5_TheDayOfALabHasACap(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--fault", "revert@1")
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	pay := func(n int) []string { // to another recipient each time: the same payment again would be a repeat
		return []string{"transfer", "--asset", "usdc", "--amount", "1100", "--to",
			"0x" + strings.Repeat(fmt.Sprint(n), 40), "--chain", "op", "--yes", "--accept", "V4,Q11,J4,U3"}
	}
	for n := range 4 {
		s.Runs(1, pay(n+1)...)
	}
	if _, errs := s.Runs(4, pay(5)...); !strings.Contains(errs, "REFUSE Y5") ||
		!strings.Contains(errs, "5,000") && !strings.Contains(errs, "5000") {
		t.Errorf("%s", errs)
	}
	if n := len(b.Saw(rig.PathExecute)); n != 4 {
		t.Errorf("executed %d times", n)
	}
}
