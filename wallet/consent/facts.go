package consent

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"coffer/wallet/verify"
)

// Source says where a fact comes from.
type Source string

// The sources.
const (
	Decoded   Source = "decoded"          // from the bytes that get signed
	Own       Source = "own"              // from the request, the journal or a computation of this wallet
	Catalogue Source = "catalogue"        // from the list of chains, assets and prices, or from the pins
	Service   Source = "the service says" // not checked
)

// Fact is one statement of a review. Path names its place ("quote.legs[1].pays") and is stable. Value is its canonical
// text: amounts in base units with their asset, times in RFC 3339, "unknown" for a missing figure. Level is that of a
// finding, "" for any other fact. A Mandatory fact must have been shown before a person can consent.
type Fact struct {
	Path      string
	Value     string
	Source    Source
	Level     verify.Level
	Mandatory bool
}

// rule says of the facts at one kind of place where they come from and when they must be shown.
type rule struct {
	source Source
	must   must
}

// must says when a fact is mandatory.
type must int

const (
	never  must = iota
	always      // also when the figure is unknown
	given       // where there is a value: not "", not an unknown time, not false
)

// rules has a line for every place of a review; Facts panics without one, and a test walks all of them. Indexes are
// left out of the names.
func rules() map[string]rule {
	return map[string]rule{
		"intent.overrides": {Own, given},

		"call.network":                 {Own, never},
		"call.accountType":             {Own, given},
		"call.chain":                   {Decoded, given},
		"call.sender":                  {Decoded, given},
		"call.signer":                  {Decoded, never},
		"call.lines.index":             {Own, never},
		"call.lines.asked":             {Own, never},
		"call.lines.role":              {Decoded, given},
		"call.lines.to":                {Decoded, given},
		"call.lines.toName":            {Catalogue, never},
		"call.lines.value":             {Decoded, given},
		"call.lines.function":          {Decoded, given},
		"call.lines.args.name":         {Decoded, never},
		"call.lines.args.type":         {Decoded, never},
		"call.lines.args.value":        {Decoded, given},
		"call.lines.data":              {Decoded, never}, // mandatory where nothing is decoded
		"call.lines.decoded":           {Decoded, never},
		"call.lines.asAsked":           {Own, never}, // an operation that is not as asked cannot be consented to
		"call.lines.amount":            {Decoded, given},
		"call.lines.recipient":         {Decoded, given},
		"call.lines.firstTime":         {Own, given},
		"call.outflow":                 {Decoded, always},
		"call.requires":                {Own, given},
		"call.worst":                   {Decoded, never}, // review 2 states the worst case of all signatures
		"call.window.from":             {Decoded, never},
		"call.window.until":            {Decoded, given},
		"call.callType":                {Service, never},
		"call.callTypeWords":           {Service, given},
		"call.deploys":                 {Decoded, given},
		"call.nonce":                   {Decoded, never},
		"call.opHash":                  {Decoded, never},
		"call.digest":                  {Decoded, never},
		"call.fingerprint":             {Own, given},
		"call.sources":                 {Service, never},
		"call.wholeConsent":            {Own, given},
		"call.signatures":              {Own, never},
		"call.delegation.chain":        {Decoded, given},
		"call.delegation.authority":    {Decoded, given},
		"call.delegation.contract":     {Decoded, given},
		"call.delegation.contractName": {Catalogue, given},
		"call.delegation.nonce":        {Decoded, given},
		"call.phrase":                  {Own, given},

		"quote.id":                                   {Service, never},
		"quote.kind":                                 {Own, never},
		"quote.callType":                             {Service, never},
		"quote.callTypeWords":                        {Service, given},
		"quote.expires":                              {Service, never}, // the deadline stands beside every confirmation
		"quote.legs.chain":                           {Decoded, given},
		"quote.legs.pays":                            {Decoded, always},
		"quote.legs.deploys":                         {Decoded, given},
		"quote.legs.nonce":                           {Decoded, never},
		"quote.legs.opHash":                          {Decoded, never},
		"quote.legs.escrow":                          {Decoded, given},
		"quote.legs.refundAfter":                     {Decoded, given},
		"quote.legs.until":                           {Decoded, given},
		"quote.legs.accountType":                     {Own, never},
		"quote.legs.parts.to":                        {Decoded, given},
		"quote.legs.parts.toName":                    {Catalogue, never},
		"quote.legs.parts.amount":                    {Decoded, always},
		"quote.legs.parts.shareBps":                  {Decoded, given},
		"quote.legs.parts.approval":                  {Decoded, given},
		"quote.legs.delegation.chain":                {Decoded, given},
		"quote.legs.delegation.authority":            {Decoded, given},
		"quote.legs.delegation.contract":             {Decoded, given},
		"quote.legs.delegation.contractName":         {Catalogue, given},
		"quote.legs.delegation.nonce":                {Decoded, given},
		"quote.legs.solana.feePayer":                 {Decoded, given},
		"quote.legs.solana.blockHash":                {Decoded, given},
		"quote.legs.solana.memo":                     {Decoded, given},
		"quote.legs.solana.instructions.program":     {Decoded, never},
		"quote.legs.solana.instructions.programName": {Catalogue, given},
		"quote.legs.solana.instructions.name":        {Decoded, given},
		"quote.legs.solana.instructions.args.name":   {Decoded, never},
		"quote.legs.solana.instructions.args.type":   {Decoded, never},
		"quote.legs.solana.instructions.args.value":  {Decoded, given},
		"quote.pay":                                  {Decoded, never}, // each payment is shown; the sums are by asset
		"quote.worst":                                {Decoded, always},
		"quote.payMicro":                             {Catalogue, always},
		"quote.deliverMicro":                         {Catalogue, always},
		"quote.feesMicro":                            {Catalogue, always},
		"quote.costMicro":                            {Catalogue, always},
		"quote.costBps":                              {Catalogue, never},
		"quote.minimumCostMicro":                     {Catalogue, never},
		"quote.minimumCostBps":                       {Catalogue, never},
		"quote.unexplainedMicro":                     {Catalogue, always},
		"quote.explained":                            {Catalogue, never},
		"quote.needs.need":                           {Own, always},
		"quote.needs.have":                           {Service, never},
		"quote.needs.short":                          {Service, never},
		"quote.delivered":                            {Decoded, always},
		"quote.minimum":                              {Decoded, always},
		"quote.recipient":                            {Decoded, given},
		"quote.fees":                                 {Decoded, always},
		"quote.feeUSD":                               {Service, given},
		"quote.slippageBps":                          {Own, always},
		"quote.sameChainOnly":                        {Own, given},
		"quote.fingerprint":                          {Own, given},
		"quote.phrase":                               {Own, given},
		"quote.recipientOwn":                         {Own, given},
		"quote.recipientFirstTime":                   {Own, given},
	}
}

// Facts lists everything that a review states, in the order of its fields, and its findings. The facts of review 1 are
// not those of review 2: they were confirmed before.
func Facts(r Review) []Fact {
	w := walker{rules: rules()}
	switch {
	case r.Quote != nil:
		w.walk("quote", reflect.ValueOf(*r.Quote))
	case r.Call != nil:
		w.walk("call", reflect.ValueOf(*r.Call))
		for i, o := range r.Intent.Overrides {
			w.add("intent.overrides["+strconv.Itoa(i)+"]", o.Address, true)
		}
	}
	for i, x := range r.Report.Reasons {
		value := strings.Join([]string{x.Code, x.Title, x.Want, x.Got, x.Path}, "\n")
		w.out = append(w.out, Fact{Finding(i), value, Own, x.Level, x.Level != verify.Show})
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
	rules map[string]rule
	out   []Fact
}

var indexes = regexp.MustCompile(`\[\d+\]`)

// add appends a fact. has says whether there is a value.
func (w *walker) add(path, value string, has bool) {
	about, ok := w.rules[indexes.ReplaceAllString(path, "")]
	if !ok {
		panic("consent: no rule for " + path) // a test walks every field of every view
	}
	w.out = append(w.out, Fact{Path: path, Value: value, Source: about.source,
		Mandatory: about.must == always || about.must == given && has})
}

func (w *walker) walk(path string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case verify.AmountView:
		w.add(path, amountValue(x), x.Amount != nil)
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
			w.demand(path + ".data") // what cannot be read must be shown as it is
		}
	default:
		w.add(path, fmt.Sprint(v.Interface()), !v.IsZero())
	}
}

// demand makes a fact that is on the list mandatory.
func (w *walker) demand(path string) {
	for i := range w.out {
		if w.out[i].Path == path {
			w.out[i].Mandatory = true
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

func amountValue(a verify.AmountView) string {
	return number(a.Amount) + " " + a.Asset.String() + " worth " + number(a.Micro)
}

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
