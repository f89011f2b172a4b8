package consent

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"coffer/api/pattern"
	"coffer/wallet/verify"
)

// Fact is one statement of a review. Path names its place ("quote.legs[1].pays") and is stable. Value is its canonical
// text: amounts in base units with their asset, times in RFC 3339, "unknown" for a missing figure. Level is that of a
// finding, "" for any other fact. A Mandatory fact must have been shown before a person can consent.
type Fact struct {
	Path      string
	Value     string
	Level     verify.Level
	Mandatory bool
}

// must says when a fact is mandatory.
type must int

const (
	never   must = iota
	always       // also when the figure is unknown
	given        // where there is a value: not "", not an unknown time, not false
	lacking      // where there is none: a figure that is not known
)

// rules says of every place of a review when its facts must be shown; Facts panics without a rule, and a test walks all
// of them. Indexes are left out of the names.
func rules() map[string]must {
	out := map[string]must{}
	for _, g := range []struct {
		must
		places []string
	}{
		// from the bytes that get signed
		{always, []string{
			"call.outflow", "quote.legs.pays", "quote.legs.parts.amount", "quote.worst", "quote.delivered",
			"quote.minimum", "quote.promise.minimums",
		}},
		{given, []string{
			"call.chain", "call.sender", "call.lines.role", "call.lines.to", "call.lines.value", "call.lines.function",
			"call.lines.args.value", "call.lines.amount", "call.lines.recipient", "call.window.until", "call.deploys",
			"call.delegation.chain", "call.delegation.authority", "call.delegation.contract", "call.delegation.nonce",
			"quote.legs.chain", "quote.legs.deploys", "quote.legs.escrow", "quote.legs.refundAfter", "quote.legs.until",
			"quote.promise.fillBy", "quote.legs.parts.to", "quote.legs.parts.shareBps", "quote.legs.parts.approval",
			"quote.legs.delegation.chain", "quote.legs.delegation.authority", "quote.legs.delegation.contract",
			"quote.legs.delegation.nonce", "quote.legs.solana.feePayer", "quote.legs.solana.blockHash",
			"quote.legs.solana.memo", "quote.legs.solana.own.fee", "quote.legs.solana.own.rent",
			"quote.legs.solana.instructions.name",
			"quote.legs.solana.instructions.args.value", "quote.recipient",
		}},
		{never, []string{
			"call.signer", "call.lines.args.name", "call.lines.args.type",
			"call.lines.data", // mandatory where nothing is decoded
			"call.lines.decoded",
			"call.worst", // review 2 states the worst case of all signatures
			"call.window.from", "call.nonce", "call.opHash", "call.digest", "quote.legs.nonce", "quote.legs.opHash",
			"quote.legs.solana.instructions.program", "quote.legs.solana.instructions.args.name",
			"quote.legs.solana.instructions.args.type",
			"quote.pay",  // each payment is shown; the sums are by asset
			"quote.fees", // they explain the cost, which is shown
		}},
		// from the request, the journal or a computation of this wallet
		{always, []string{
			"quote.promise.attesters", "quote.promise.threshold",
		}},
		{given, []string{
			"intent.overrides", "call.accountType", "call.lines.firstTime", "call.requires",
			"call.wholeConsent", "call.phrase", "quote.sameChainOnly", "quote.phrase",
			"quote.recipientOwn", "quote.recipientFirstTime",
		}},
		{never, []string{
			// they identify what is shown, for comparing; a consent is bound to them whether they were read or not
			"call.fingerprint", "quote.fingerprint",
			"quote.needs.need",  // what leaves and what arrives is shown
			"quote.slippageBps", // the minimum is shown, which follows from it
			"call.network", "call.lines.index", "call.lines.asked",
			"call.lines.asAsked", // an operation that is not as asked cannot be consented to
			"call.signatures", "quote.kind", "quote.legs.accountType",
		}},
		// from the list of chains, assets and prices, or from the pins
		{always, []string{"quote.costMicro"}},
		// they explain the cost
		{lacking, []string{
			"quote.payMicro", "quote.deliverMicro", "quote.feesMicro", "quote.unexplainedMicro",
		}},
		{given, []string{
			"call.delegation.contractName", "quote.legs.delegation.contractName",
			"quote.legs.solana.instructions.programName",
		}},
		{never, []string{
			"call.lines.toName", "quote.legs.parts.toName", "quote.costBps", "quote.minimumCostMicro",
			"quote.minimumCostBps", "quote.explained",
		}},
		// what the person's own nodes see and simulate: a difference is a finding
		{never, []string{
			"call.seen.chain", "call.seen.block", "call.seen.has", "call.seen.as", "quote.seen.chain",
			"quote.seen.block", "quote.seen.has", "quote.seen.as", "call.simulated.chain", "call.simulated.block",
			"call.simulated.out", "call.simulated.in", "call.simulated.as", "quote.simulated.chain",
			"quote.simulated.block", "quote.simulated.out", "quote.simulated.in", "quote.simulated.as",
		}},
		// what the service says, unchecked
		{lacking, []string{"quote.feeUSD", "quote.needs.have"}},
		{never, []string{
			"call.callTypeWords",
			"quote.callTypeWords", // mandatory where the solver could make the calls
			"call.callType", "call.sources", "quote.id", "quote.callType",
			"call.codeless", // a finding of review 1 names them
			"quote.expires", // the deadline stands beside every confirmation
			"quote.needs.short",
		}},
	} {
		for _, place := range g.places {
			if _, twice := out[place]; twice {
				panic("consent: two rules for " + place)
			}
			out[place] = g.must
		}
	}
	return out
}

// Facts lists everything that a review states, in the order of its fields, and its findings. The facts of review 1 are
// not those of review 2: they were confirmed before.
func Facts(r Review) []Fact {
	w := walker{rules: rules()}
	switch {
	case r.Quote != nil:
		w.walk("quote", reflect.ValueOf(*r.Quote))
		w.quote(r)
	case r.Call != nil:
		w.walk("call", reflect.ValueOf(*r.Call))
		for i, o := range r.Intent.Overrides {
			w.add("intent.overrides["+strconv.Itoa(i)+"]", o.Address, true)
		}
	}
	for i, x := range r.Report.Reasons {
		value := strings.Join([]string{x.Code, x.Title, x.Want, x.Got, x.Path}, "\n")
		w.out = append(w.out, Fact{Finding(i), value, x.Level, x.Level != verify.Show})
	}
	return w.out
}

// Finding is the path of a finding of the report.
func Finding(i int) string { return "findings[" + strconv.Itoa(i) + "]" }

// Unshown lists the paths of the mandatory facts of a review that shown leaves out.
func Unshown(r Review, shown []string) []string {
	var out []string
	for _, f := range Facts(r) {
		if f.Mandatory && !slices.Contains(shown, f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}

// digest binds the value of every fact.
func digest(facts []Fact) [32]byte {
	h := sha256.New()
	for _, f := range facts {
		_, _ = fmt.Fprintf(h, "%q %q\n", f.Path, f.Value) // a hash takes every write
	}
	return [32]byte(h.Sum(nil))
}

// walker collects the facts below a view.
type walker struct {
	rules map[string]must
	out   []Fact
}

var indexes = pattern.New(`\[\d+\]`)

// add appends a fact. has says whether there is a value.
func (w *walker) add(path, value string, has bool) {
	when, ok := w.rules[indexes.Regexp().ReplaceAllString(path, "")]
	if !ok {
		panic("consent: no rule for " + path) // a test walks every field of every view
	}
	w.out = append(w.out, Fact{Path: path, Value: value, Mandatory: when == always || when == given && has ||
		when == lacking && (value == "" || value == unknown)})
}

func (w *walker) walk(path string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case verify.AmountView:
		w.add(path, number(x.Amount)+" "+x.Asset.String()+" worth "+number(x.Micro), x.Amount != nil)
		return
	case verify.ChainLabel:
		w.add(path, x.CAIP+" "+x.Name, x != verify.ChainLabel{})
		return
	case *big.Int:
		w.add(path, number(x), x != nil && x.Sign() != 0)
		return
	case time.Time:
		w.add(path, instant(x), !x.IsZero())
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			w.walk(path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(path+"["+strconv.Itoa(i)+"]", v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.walk(path+"."+lower(v.Type().Field(i).Name), v.Field(i))
		}
		if l, is := v.Interface().(verify.CallView); is && !l.Decoded {
			w.set(path+".data", true) // what cannot be read must be shown as it is
		}
	default:
		w.add(path, fmt.Sprint(v.Interface()), !v.IsZero())
	}
}

// quote decides what depends on more than one field. That a call gets its money at the own account is as it should be;
// another one must be shown. How a quote is paid binds where a solver could make calls in the account's place that do
// more than pay a recipient.
func (w *walker) quote(r Review) {
	if r.Quote.Itself() != nil { // the cost is Solana's, which stands there in SOL
		w.set("quote.feesMicro", false)
		w.set("quote.unexplainedMicro", false)
	}
	if !r.Intent.Exchanges() && r.Quote.RecipientOwn {
		w.set("quote.recipient", false)
		w.set("quote.recipientOwn", false)
		w.set("quote.recipientFirstTime", false)
	}
	if r.SolverCalls() {
		w.set("quote.callTypeWords", true)
	}
}

// set makes a fact that is on the list mandatory, or not.
func (w *walker) set(path string, mandatory bool) {
	for i := range w.out {
		if w.out[i].Path == path {
			w.out[i].Mandatory = mandatory
		}
	}
}

// lower writes the first word of a field's name in lower case: "opHash", "id", "feeUSD".
func lower(name string) string {
	n := 1
	for n < len(name) && unicode.IsUpper(rune(name[n])) && (n+1 == len(name) || unicode.IsUpper(rune(name[n+1]))) {
		n++
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// The canonical texts of values.

const unknown = "unknown"

func number(v *big.Int) string {
	if v == nil {
		return unknown
	}
	return v.String()
}

func instant(t time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return t.UTC().Format(time.RFC3339)
}
