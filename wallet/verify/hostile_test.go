package verify_test

import (
	"fmt"
	"math/big"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// allocated returns the bytes that fn allocates: the work of a hostile answer shows there, and no busy machine changes
// it.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// judgedWithin bounds the memory that judging one megabyte takes (TH-L1). The time (TH-F16) is measured by the
// benchmarks.
const judgedWithin = 32 << 20

func TestL1_OneMegabyteIsJudgedInBoundedMemory(t *testing.T) {
	w := newWorld(t)
	w.Freeze()
	for name, doc := range megabytes(w) {
		if d := allocated(func() { w.prepared(doc) }); d > judgedWithin {
			t.Errorf("prepare, %s: %d bytes", name, d)
		}
	}
	s := w.signed()
	for name, doc := range megabyteQuotes(w) {
		if d := allocated(func() { w.quote(s, doc) }); d > judgedWithin {
			t.Errorf("quote, %s: %d bytes", name, d)
		}
	}
}

func TestL1_TheReportOfAHostileAnswerIsBounded(t *testing.T) {
	w := newWorld(t)
	w.Freeze()
	for name, doc := range megabytes(w) {
		p, r := w.prepared(doc)
		if name != "many leaves" && (p != nil || !r.Refused()) {
			t.Errorf("%s: accepted", name)
		}
		if len(r.Reasons) > 110 {
			t.Errorf("%s: %d reasons", name, len(r.Reasons))
		}
	}
}

func TestL1_ARefusalIsNeverCrowdedOutByWarnings(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answer := w.PrepareResponse()
		answer.SourceAssetBalances = nil
		for i := range 300 { // the wallet knows none of these assets, which is one warning
			answer.SourceAssetBalances = append(answer.SourceAssetBalances, api.SourceAssetBalance{
				AssetType: fmt.Sprintf("eip155:8453/erc20:0x%040x", i+1), Balance: "1", Decimals: 6, FiatValue: "1",
			})
		}
		p, r := w.prepared(w.Document(answer))
		if p == nil || !r.Has("P5", verify.Warn) || !r.Has("V4", verify.Warn) || r.Count(verify.Warn) > 10 {
			t.Fatalf("%d warnings, refused %v", r.Count(verify.Warn), r.Refused())
		}
		w.withCalls(&answer, append(w.Asked(), op.Call{To: common.HexToAddress(stranger), Value: new(big.Int)})...)
		p, r = w.prepared(w.Document(answer))
		refused(t, p != nil, r, "U7")
	})
}

// TestL1_AnOpenGateIsOnEveryReport: however many warnings an answer earns, the sentence of a gate is asked for.
func TestL1_AnOpenGateIsOnEveryReport(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answer := w.PrepareResponse()
		answer.SourceAssetBalances = nil
		for i := range 300 {
			answer.SourceAssetBalances = append(answer.SourceAssetBalances, api.SourceAssetBalance{
				AssetType: fmt.Sprintf("eip155:8453/erc20:0x%040x", i+1), Balance: "1", Decimals: 6, FiatValue: "1",
			})
		}
		foreignSponsor(&answer.ChainOperation, nil)
		doc := w.Document(answer)
		p, r := w.prepared(doc)
		gated(t, p != nil, r, "U12", verify.GatePaymaster)
		w.Policy.Limits.Gates = []string{verify.GatePaymaster}
		if p, r = w.prepared(doc); p == nil || len(r.Reasons) > 110 {
			t.Fatalf("%+v", r.Reasons)
		}
		opened(t, r, verify.GatePaymaster, p.View().Fingerprint, p.View().Phrase, p.Confirmation())
	})
}

func TestR1_PathsOfReasonsAreClean(t *testing.T) {
	w := newWorld(t)
	base := w.Document(w.PrepareResponse())
	name := "\x1b]0;owned\x07\u202e" + strings.Repeat("x", 10_000)
	raw := []byte(strings.Replace(string(base.Raw()), `"callData":`, fmt.Sprintf(`%s:1,"callData":`, quoted(t, name)),
		1))
	doc, err := api.ParseDocument(raw, api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	p, r := w.prepared(doc)
	refused(t, p != nil, r, "L4")
	for _, x := range r.Reasons {
		if strings.ContainsAny(x.Path+x.Title+x.Want+x.Got, "\x1b\x07\u202e") || len([]rune(x.Path)) > 250 {
			t.Errorf("%.200q", x.Path)
		}
	}
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	e, err := api.StringEdit("", s)
	if err != nil {
		t.Fatal(err)
	}
	return string(e.Value)
}

func TestU13_TheEmptySignatureHasOneSpelling(t *testing.T) {
	// An escaped spelling means the same, but the bytes could not be restored when the body is compared with what was
	// reviewed.
	for _, spelling := range []string{`"\u0030x"`, `"0\u0078"`} {
		w := newWorld(t)
		base := w.Document(w.PrepareResponse())
		doc, err := base.Splice(api.Edit{Pointer: "/chainOperation/userOp/signature", Value: []byte(spelling)})
		if err != nil {
			t.Fatal(err)
		}
		p, r := w.prepared(doc)
		refused(t, p != nil, r, "U13")
		s := w.signed()
		doc, err = w.Document(w.CrossChain()).Splice(api.Edit{Pointer: "/originChainsOperations/1/userOp/signature",
			Value: []byte(spelling)})
		if err != nil {
			t.Fatal(err)
		}
		q, r := w.quote(s, doc)
		refused(t, q != nil, r, "U13")
	}
}

// changed returns another plausible value of a member of a user operation.
func changed(t *testing.T, name, old string) string {
	t.Helper()
	switch {
	case name == "paymasterData":
		return golden.HexOf(op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: uint64(clock().Unix()) + 599,
			ValidAfter: uint64(clock().Unix())}, make([]byte, 65)))
	case old == "0x" || old == "":
		return "0x01"
	case strings.HasPrefix(old, "0x"):
		b := common.FromHex(old)
		b[len(b)-1] ^= 1
		return golden.HexOf(b)
	}
	n, ok := new(big.Int).SetString(old, 10)
	if !ok {
		t.Fatalf("%s: %q", name, old)
	}
	return n.Add(n, big.NewInt(1)).String()
}

// TestU14_EveryMemberOfTheOperationIsInTheDigest changes each member by itself, with typed data that fits: the answer
// is refused, or what gets signed is another digest. A member that is added to the wire type is tested as well.
func TestU14_EveryMemberOfTheOperationIsInTheDigest(t *testing.T) {
	w := newWorld(t)
	w.Deploy = true
	w.Freeze()
	base, _ := w.prepared(w.Document(w.PrepareResponse()))
	if base == nil {
		t.Fatal("the golden answer is refused")
	}
	tolerated := map[string]bool{}
	wire := reflect.TypeFor[api.UserOp]()
	for i := range wire.NumField() {
		answer := w.PrepareResponse()
		u := *answer.ChainOperation.UserOp
		name, _, _ := strings.Cut(wire.Field(i).Tag.Get("json"), ",")
		f := reflect.ValueOf(&u).Elem().Field(i)
		f.SetString(changed(t, name, f.String()))
		answer.ChainOperation.UserOp = &u
		w.again(&answer.ChainOperation, 8453)
		p, r := w.prepared(w.Document(answer))
		switch {
		case p == nil && !r.Refused():
			t.Errorf("%s: no value and no refusal", name)
		case p != nil:
			tolerated[name] = true
			if p.Signing().Digest() == base.Signing().Digest() || p.View().Digest == base.View().Digest ||
				p.View().Fingerprint == base.View().Fingerprint {
				t.Errorf("%s is not in what gets signed", name)
			}
		}
	}
	for _, name := range []string{"callGasLimit", "verificationGasLimit", "paymasterVerificationGasLimit",
		"paymasterPostOpGasLimit", "paymasterData"} {
		if !tolerated[name] {
			t.Errorf("%s is never tolerated", name)
		}
		delete(tolerated, name)
	}
	if len(tolerated) != 0 {
		t.Errorf("also tolerated: %v", tolerated)
	}
}

// members lists the pointers of every member of a wire type, with "*" for elements of lists and maps.
func members(ty reflect.Type, prefix string, out map[string]bool) {
	switch ty.Kind() {
	case reflect.Pointer:
		members(ty.Elem(), prefix, out)
	case reflect.Slice, reflect.Map:
		members(ty.Elem(), prefix+"/*", out)
	case reflect.Struct:
		for i := range ty.NumField() {
			name, _, _ := strings.Cut(ty.Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" {
				members(ty.Field(i).Type, prefix+"/"+name, out)
			}
		}
	default:
		out[prefix] = true
	}
}

// TestF1_TheClassTablesCoverEveryMemberOfTheInterface compares the tables with the wire types: each member is in a
// class, or belongs to a kind of operation that this version refuses because no table names it (L4, D1, P2).
func TestF1_TheClassTablesCoverEveryMemberOfTheInterface(t *testing.T) {
	for _, c := range []struct {
		name   string
		ty     reflect.Type
		table  []verify.Leaf
		prefix string
	}{
		{"prepare", reflect.TypeFor[api.PrepareResponse](), verify.PreparedLeaves(), "/chainOperation/"},
		{"quote", reflect.TypeFor[api.Quote](), verify.QuoteLeaves(), "/originChainsOperations/*/"},
	} {
		all := map[string]bool{}
		members(c.ty, "", all)
		if len(all) < 30 {
			t.Fatalf("%s: only %d members found", c.name, len(all))
		}
		for pointer := range all {
			l, ok := verify.FindLeaf(c.table, strings.ReplaceAll(strings.ReplaceAll(pointer, "/types/*/*",
				"/types/Approve/0"), "*", "0"))
			switch {
			case ok && l.Code == "":
				t.Errorf("%s: %s has no rule", c.name, pointer)
			case !ok && !unsupported(strings.TrimPrefix(pointer, c.prefix),
				pointer != strings.TrimPrefix(pointer, c.prefix)):
				t.Errorf("%s: %s is in no class", c.name, pointer)
			}
		}
		for _, l := range c.table {
			known := map[verify.Class]bool{verify.Bound: true, verify.Bounded: true, verify.Opaque: true,
				verify.Display: true}
			if !known[l.Class] || l.Code == "" || !strings.HasPrefix(l.Pattern, "/") {
				t.Errorf("%s: %+v", c.name, l)
			}
		}
	}
}

// unsupported reports members of an operation that only other account types use.
func unsupported(member string, inOperation bool) bool {
	if !inOperation {
		return false
	}
	switch strings.Split(member, "/")[0] {
	case "delegation", "type", "dataToSign", "signature", "feePayer", "recentBlockHash", "instructions",
		"addressLookupTableAddresses":
		return true
	}
	return false
}

func TestV3_AHarmlessNameWithTheSelectorOfAKnownFunctionIsNotShown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		data := append(common.FromHex("42966c68"), common.LeftPadBytes(new(big.Int).Lsh(big.NewInt(5), 128).Bytes(),
			32)...)
		w.Draft.Calls[1].Data, w.Draft.Calls[1].Value = golden.HexOf(data), ""
		// a well-known collision with burn(uint256)
		w.Draft.Calls[1].Function = "collate_propagate_storage(bytes16 note)"
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		if l := p.View().Lines[1]; !strings.HasPrefix(l.Function, "burn(uint256") || !l.Decoded {
			t.Fatalf("shown as %q", l.Function)
		}
	})
}

func TestV3_TheUsersOwnSignatureDecodesWhatIsNotWellKnown(t *testing.T) {
	for function, decoded := range map[string]bool{"bridge(address to, uint64 chain)": true, "other(address to)": false,
		"not a signature": false, "": false} {
		w := newWorld(t)
		data := append(selectorOf("bridge(address,uint64)"),
			append(common.LeftPadBytes(common.HexToAddress(payee).Bytes(), 32),
				common.LeftPadBytes([]byte{10}, 32)...)...)
		w.Draft.Calls[1].Data, w.Draft.Calls[1].Function = golden.HexOf(data), function
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		l := p.View().Lines[1]
		if l.Decoded != decoded || r.Has("V3", verify.Warn) == decoded ||
			(decoded && (len(l.Args) != 2 || l.Args[0].Value != payee)) {
			t.Errorf("%q: %+v", function, l)
		}
	}
}

func selectorOf(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

func TestH1_ARecipientThatImitatesTheAccountItselfIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		fake := w.Account
		fake[10] ^= 0xff
		w.Draft.Calls[1].To = fake.Hex()
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "H1")
	})
}

func TestP5_NoAssetHasTwoBalances(t *testing.T) {
	prepareRefused(t, "P5", func(_ *world, r *api.PrepareResponse) {
		again := r.SourceAssetBalances[1]
		again.Balance = "1"
		r.SourceAssetBalances = append(r.SourceAssetBalances, again)
	})
	prepareRefused(t, "P5", func(_ *world, r *api.PrepareResponse) { r.SourceAssetBalances[0].AssetType = "USDC" })
	prepareRefused(t, "P6", func(_ *world, r *api.PrepareResponse) { r.SourceAssetBalances[0].Balance = "1e9" })
}

func TestQ10_AQuoteEndsBeforeTheOperationThatItIsFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answer := w.PrepareResponse()
		// the quote lives 30 s
		window := op.PaymasterWindow{ValidAfter: uint64(clock().Unix()), ValidUntil: uint64(clock().Unix()) + 29}
		answer.ChainOperation.UserOp.PaymasterData = golden.HexOf(op.EncodePaymasterData(window, make([]byte, 65)))
		p, r := w.prepared(w.Document(answer))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		s := signedBy(t, p, w.Key)
		q, r := w.quote(s, w.Document(w.CrossChain()))
		refused(t, q != nil, r, "Q10")
	})
}

func TestU3_EachChainPaysWithOneOperation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		q := w.QuoteResponse("225980000", map[string]string{arbUSDC: "480000"},
			golden.Payment{Asset: arbUSDC, Amount: 125_980_000, Sequence: 4},
			golden.Payment{Asset: arbUSDC, Amount: 100_000_000, Sequence: 5})
		q.OriginToken.AssetType = []string{arbUSDC}
		v, r := w.quote(w.signed(), w.Document(q))
		refused(t, v != nil, r, "U3")
	})
}
