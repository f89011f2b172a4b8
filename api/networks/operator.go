package networks

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
)

// Operator is who settles payments between the chains of a file, from an inventory in a filler contract. Owner is its
// cold key. Deposits are released when Threshold of the Attesters, which ascend, have signed that they were paid for.
// Amounts are micro-USD: SponsorPerDay is what an account may cost in gas in 24 hours, ExposureCap what may be in
// escrows at once. Accounts are those that are served, nil for all. Elsewhere says where attesters are reached that are
// not in the operator's service. HotKey and AttesterKey are signers that have its keys, nil where its own data has.
type Operator struct {
	Owner         common.Address
	Attesters     []common.Address
	Threshold     int
	SponsorPerDay *big.Int
	ExposureCap   *big.Int
	Accounts      []common.Address
	Anyone        bool
	Elsewhere     []Elsewhere
	HotKey        *Signer
	AttesterKey   *Signer
	Line          int
}

// Bounds and usual values of what an operator says.
const (
	usd            = 6 // decimals of micro-USD
	maxUSD         = 1_000_000_000
	maxAttesters   = 16
	maxFinalWorst  = 21 * time.Hour // the escrow holds a deposit for 24 hours at most
	UsualWorst     = time.Hour      // what Chain.FinalWorst is where the file says nothing
	anyone         = "any"
	expectedPeople = `a list of addresses, or "any" to serve every account`
)

func (r *reader) operator(t table) *Operator {
	o := &Operator{Line: r.places[t.path].line, Threshold: 1}
	owner, has := must[string](t, "owner", "the address of your cold key")
	if has {
		o.Owner = r.person(t.at("owner"), owner)
	}
	list, _ := must[[]any](t, "attesters", "a list of addresses")
	for i, v := range list {
		s, _ := v.(string)
		a := r.person(index(t.at("attesters"), i), s)
		if slices.Contains(o.Attesters, a) && a != (common.Address{}) {
			r.say(index(t.at("attesters"), i), "this attester is in the list already")
		}
		o.Attesters = append(o.Attesters, a)
	}
	slices.SortFunc(o.Attesters, func(a, b common.Address) int { return bytes.Compare(a[:], b[:]) })
	if len(o.Attesters) > maxAttesters {
		r.say(t.at("attesters"), "at most %d attesters", maxAttesters)
	}
	if k, has := take[int64](t, "k", "how many attesters have to sign, such as 2"); has {
		if k < 1 || k > int64(max(len(o.Attesters), 1)) {
			r.say(t.at("k"), "%d attesters cannot give %d signatures", len(o.Attesters), k)
		}
		o.Threshold = int(k)
	}
	o.SponsorPerDay = r.dollars(t, "sponsor_usd_per_day", "what an account may cost in gas in 24 hours, in USD")
	o.ExposureCap = r.dollars(t, "exposure_cap_usd", "what may be in the escrows at once, in USD")
	r.people(t, o)
	r.elsewhere(t, o)
	o.HotKey, o.AttesterKey = r.signer(t, hotKey), r.signer(t, "attester_key")
	t.end()
	return o
}

// people reads who is served.
func (r *reader) people(t table, o *Operator) {
	v, has := must[any](t, "accounts", expectedPeople)
	if list, is := v.([]any); is {
		for i, one := range list {
			s, _ := one.(string)
			o.Accounts = append(o.Accounts, r.person(index(t.at("accounts"), i), s))
		}
		return
	}
	o.Anyone = v == anyone
	if has && !o.Anyone {
		r.say(t.at("accounts"), "expected %s", expectedPeople)
	}
}

// person reads an address.
func (r *reader) person(at, s string) common.Address {
	a, err := caip.ParseAddress(s)
	if err != nil || caip.CheckEIP55(s) != nil || a == (common.Address{}) {
		r.say(at, "expected 0x and 40 hex digits, correct letter case")
	}
	return a
}

// dollars reads an amount of money.
func (r *reader) dollars(t table, key, what string) *big.Int {
	v, ok := must[any](t, key, what)
	if !ok {
		return new(big.Int)
	}
	parsed, ok := figure(v, usd)
	if most := amount.Scale(big.NewInt(maxUSD), 0, usd); !ok || parsed.Cmp(most) > 0 {
		r.say(t.at(key), "expected %s, such as 5 or 0.5, at most %d", what, int64(maxUSD))
		return new(big.Int)
	}
	return parsed
}

// figure reads a number of the file with so many decimals.
func figure(v any, decimals int) (*big.Int, bool) {
	text := ""
	switch n := v.(type) {
	case int64:
		text = strconv.FormatInt(n, 10)
	case float64:
		text = strconv.FormatFloat(n, 'f', -1, 64)
	}
	parsed, err := amount.Parse(text, decimals)
	return parsed, err == nil
}

// worst reads how long the blocks of a chain take at worst until they are final.
func (r *reader) worst(t table, c *Chain) {
	const expected = `how long a block takes at worst to become final, such as "1h", at most 21h`
	c.FinalWorst = UsualWorst
	s, has := take[string](t, "final_worst", expected)
	if !has {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxFinalWorst || d%time.Second != 0 {
		r.say(t.at("final_worst"), "expected %s", expected)
		return
	}
	c.FinalWorst = d
}

const operatorHead = `
# Who settles payments between these chains, with coffer serve --networks %s
#   owner                the address of a cold key: it puts inventory into the filler contract, sets its caps and its
#                        hot key, and takes inventory out
#   attesters, k         whose signatures release a deposit, and how many of them it takes. coffer serve says which
#                        address its own is
#   sponsor_usd_per_day  what an account may cost in gas in 24 hours: calls on one chain, and quotes that fail
#   exposure_cap_usd     what may be in the escrows at once
#   accounts             who is served: a list of addresses, or "any"
#   [[operator.elsewhere]] says where an attester is reached that is not in this service; [operator.hot_key] and
#   [operator.attester_key] name signers outside this program
[operator]
owner = %q
attesters = [%s]
k = %d
sponsor_usd_per_day = %s
exposure_cap_usd = %s
accounts = %s
`

// encode writes the table.
func (o *Operator) encode(file string) string {
	people := strconv.Quote(anyone)
	if !o.Anyone {
		people = "[" + addresses(o.Accounts) + "]"
	}
	out := fmt.Sprintf(operatorHead, file, o.Owner.Hex(), addresses(o.Attesters), o.Threshold,
		amount.Plain(o.SponsorPerDay, usd), amount.Plain(o.ExposureCap, usd), people)
	for _, e := range o.Elsewhere {
		out += e.encode()
	}
	return out + o.HotKey.encode(hotKey) + o.AttesterKey.encode("attester_key")
}

func addresses(all []common.Address) string {
	out := make([]string, len(all))
	for i, a := range all {
		out[i] = strconv.Quote(a.Hex())
	}
	return strings.Join(out, ", ")
}
