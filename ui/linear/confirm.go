package linear

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/tui/kit"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// stake is what a confirmation is about: the sentence of an open gate, the amount to type, and why it has to be typed; without either one word is enough.
type stake struct {
	phrase string
	typed  *verify.AmountView // nil: nothing leaves the account as far as the bytes show
	why    string
}

// atStake judges a review. Review 1 only prepares, unless its signature is the whole consent; review 2 pays.
func (c *course) atStake(st stage) stake {
	var k stake
	switch {
	case st == stageReview1:
		if v := c.snap.Review1; v.WholeConsent {
			k = weigh(v.Outflow, sum(v.Outflow), c.deps.TypeFrom)
		}
		k.phrase = c.snap.Review1.Phrase
	case st == stageReview2:
		if v := c.snap.Review2; !v.SameChainOnly {
			k = weigh(together(c.ctx.Catalog, v.Pay), v.PayMicro, c.deps.TypeFrom)
		}
		k.phrase = c.snap.Review2.Phrase
	}
	return k
}

func weigh(amounts []verify.AmountView, micro, from *big.Int) stake {
	k := stake{typed: largest(amounts)}
	switch {
	case k.typed == nil:
	case micro == nil:
		k.why = "its value is unknown"
	case micro.Cmp(from) >= 0:
		k.why = "it is worth " + kit.USD(from) + " or more"
	}
	return k
}

// sum adds the values; nil when one is unknown.
func sum(amounts []verify.AmountView) *big.Int {
	total := new(big.Int)
	for _, a := range amounts {
		if a.Micro == nil {
			return nil
		}
		total.Add(total, a.Micro)
	}
	return total
}

// largest is the amount of the greatest value; one of unknown value goes before all others. Amounts of zero do not count.
func largest(amounts []verify.AmountView) *verify.AmountView {
	var out *verify.AmountView
	for i := range amounts {
		a := &amounts[i]
		switch {
		case a.Amount == nil || a.Amount.Sign() == 0:
		case out == nil, out.Micro != nil && (a.Micro == nil || a.Micro.Cmp(out.Micro) > 0):
			out = a
		}
	}
	return out
}

// toType is the amount as it is to be typed: without separators and trailing zeros.
func toType(a verify.AmountView) string {
	if a.Decimals < 0 {
		return a.Amount.String()
	}
	return amount.Trim(amount.Format(a.Amount, a.Decimals))
}

// sameAmount compares what was typed with an amount, as numbers: separators of thousands and trailing zeros do not matter.
func sameAmount(text string, a verify.AmountView) bool {
	text = strings.ReplaceAll(text, ",", "")
	v, err := amount.ParseBase(text)
	if a.Decimals >= 0 {
		v, err = amount.Parse(text, a.Decimals)
	}
	return err == nil && v.Cmp(a.Amount) == 0
}

// confirmation names the review that was printed: its fingerprint and, behind an open gate, the sentence that was typed.
func (c *course) confirmation(st stage) string {
	fingerprint, phrase := c.fingerprint(st), c.atStake(st).phrase
	if phrase != "" {
		return fingerprint + "\n" + phrase
	}
	return fingerprint
}

func (c *course) fingerprint(st stage) string {
	if st == stageReview1 {
		return c.snap.Review1.Fingerprint
	}
	return c.snap.Review2.Fingerprint
}

// agreed asks for everything that it takes to confirm a review, one question for each: the sentence of an open gate, then the amount or a word. It reports
// whether all of it was given before the deadline.
func (c *course) agreed(ctx context.Context, st stage) (bool, error) {
	if why := c.obstacle(st); why != "" {
		c.out.say(why)
		return false, nil
	}
	if ok, err := c.unlock(ctx, st); !ok {
		return false, err
	}
	k, id := c.atStake(st), c.printed
	if k.phrase != "" {
		say := func() {
			c.out.say("A gate stands open. To " + c.verb(st) + " all the same, this sentence has to be typed exactly:")
			c.out.note(k.phrase)
		}
		say()
		q := question{text: c.left(st) + " Type the sentence:", repeat: say}
		if ok, err := c.typed(ctx, st, q, func(text string) bool { return text == k.phrase }); !ok {
			return false, err
		}
	}
	var ok bool
	var err error
	switch {
	case k.why != "":
		want := toType(*k.typed)
		q := question{text: c.left(st) + " To " + c.verb(st) + ", type the amount " + want + ", because " + k.why + ":"}
		ok, err = c.typed(ctx, st, q, func(text string) bool { return sameAmount(text, *k.typed) })
	case k.phrase != "":
		ok = true
	default:
		q := question{text: c.left(st) + " To " + c.verb(st) + ", type yes:"}
		ok, err = c.typed(ctx, st, q, func(text string) bool { return strings.EqualFold(text, "yes") })
	}
	return ok && id == c.fingerprint(st) && c.obstacle(st) == "", err
}

// typed asks once for something to be typed by hand. After a wrong answer and after the deadline nothing is confirmed.
func (c *course) typed(ctx context.Context, st stage, q question, right func(string) bool) (bool, error) {
	text, err := c.confirm(ctx, q)
	switch {
	case err != nil:
		return false, err
	case c.obstacle(st) != "":
		c.out.say(c.obstacle(st))
		return false, nil
	case !right(text):
		c.out.say("That is not the same. Nothing was confirmed.")
		return false, nil
	}
	return true, nil
}

// obstacle says why a review cannot be confirmed now; "" when it can.
func (c *course) obstacle(st stage) string {
	switch {
	case c.printed == "" || c.printed != c.fingerprint(st):
		return "This review was not read out yet. Nothing was confirmed."
	case st == stageReview1 && c.expired(st):
		return "The time to sign this has ended, at " + c.clock(c.deadline(st)) + ". Nothing was confirmed."
	case c.expired(st):
		return "This quote has expired, at " + c.clock(c.deadline(st)) + ". Nothing was confirmed."
	case st == stageReview1 && !c.faithful():
		return "The operation is not what you asked for. It cannot be signed."
	}
	return ""
}

// deadline is the moment after which a review cannot be confirmed; zero: none is known, and then nothing can be confirmed either.
func (c *course) deadline(st stage) time.Time {
	switch {
	case !c.snap.Deadline.IsZero():
		return c.snap.Deadline
	case st == stageReview1:
		return c.snap.Review1.Window.Until
	}
	return c.snap.Review2.Expires
}

func (c *course) expired(st stage) bool { return !c.now().Before(c.deadline(st)) }

// left says how much time there is.
func (c *course) left(st stage) string {
	until := c.deadline(st)
	if c.expired(st) {
		return "The time for this is over."
	}
	what := "The quote expires in "
	if st == stageReview1 {
		what = "This closes in "
	}
	return what + spanWords(until.Sub(c.now())) + ", at " + c.clock(until) + "."
}

// faithful compares once more, byte for byte, what was asked for with the calls that were decoded from the bytes to sign: each call once, in its order, and
// nothing beside them but approvals that were declared.
func (c *course) faithful() bool {
	d, next := c.snap.Intent, 0
	for _, l := range c.snap.Review1.Lines {
		switch {
		case !l.AsAsked:
			return false
		case l.Role == verify.RoleCall:
			if l.Asked != next+1 || next >= len(d.Calls) || !sameCall(d.Calls[next], l) {
				return false
			}
			next++
		case !slices.ContainsFunc(d.Allowances, func(a api.AllowanceRequirement) bool { return declared(a, d, l) }):
			return false
		}
	}
	return next == len(d.Calls) && !c.snap.Report1.Refused()
}

// declared reports that an approval of the operation belongs to an allowance: the same token and the same spender.
func declared(a api.AllowanceRequirement, d intent.Draft, l verify.CallView) bool {
	calls := make([]api.Call, len(d.Calls))
	for i, x := range d.Calls {
		calls[i].To = x.To
	}
	asset, err := caip.ParseAsset(a.AssetType)
	token, ok := asset.Token()
	spender, found := api.SpenderOf(a, calls)
	if err != nil || !ok || !found || !strings.EqualFold(token.Hex(), l.To) {
		return false
	}
	return slices.ContainsFunc(l.Args, func(x verify.ArgView) bool { return x.Type == "address" && strings.EqualFold(x.Value, spender) })
}

func sameCall(asked intent.Call, l verify.CallView) bool {
	v, ok := api.ParseWei(asked.Value)
	bare := func(data string) string { return strings.TrimPrefix(strings.ToLower(data), "0x") }
	if !ok || !strings.EqualFold(asked.To, l.To) || bare(asked.Data) != bare(l.Data) {
		return false
	}
	return l.Value == nil && v.Sign() == 0 || l.Value != nil && v.Cmp(l.Value) == 0
}
