package settle_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	. "coffer/api/service/settle/settletest"
)

// places are where a client writes into a quote: everything else is covered by the integrity signature.
func places() []string {
	return []string{
		"/originChainsOperations/0/signature", "/originChainsOperations/1/userOp/signature",
		"/originChainsOperations/2/userOp/signature",
		"/originChainsOperations/1/delegation/signature", "/originChainsOperations/1/delegation/signature/r",
		"/originChainsOperations/2/delegation/signature/yParity",
		"/originChainsOperations/2/delegation/signature/chainId", "/tamperProofSignature",
	}
}

// FuzzExecuteTakesNoForeignSignature: whatever stands in the places that a client fills in, execute answers with a
// named refusal and the quote stays an offer; only the right signatures are accepted.
func FuzzExecuteTakesNoForeignSignature(f *testing.F) {
	w := New(f, Options{})
	w.User = w.AddUser(api.AccountKernelV33+WithSolana, 7)
	w.FundSolana(w.User.Wallet, w.Asset("usdc", Solana), 200*usdcPlain)
	stock(w, w.User)
	doc := w.Swap(Exchange{From: "ob:usdc", Amount: big.NewInt(500 * usdcPlain), Get: "ob:usdc", To: payeeOn(Base)(w)})
	signed, id := w.SignQuote(doc), w.Decode(doc).ID
	right, err := signed.Canonical()
	Must(f, err)
	if n := len(w.Decode(doc).OriginChainsOperations); n != 3 {
		f.Fatalf("%d operations", n)
	}
	for i := range places() {
		for _, v := range []string{`"0x"`, `""`, `"0x11"`, `null`, `1`, `-1`, `1e400`, `{}`, `[]`, `{"r":"0x"}`,
			`"11111111111111111111111111111111"`} {
			f.Add(uint8(i), v)
		}
	}
	f.Fuzz(func(t *testing.T, place uint8, value string) {
		at := places()[int(place)%len(places())]
		w.TB = t
		changed, err := signed.Splice(api.Edit{Pointer: at, Value: []byte(value)})
		if err != nil {
			return
		}
		canonical, err := changed.Canonical()
		if err != nil || strings.EqualFold(string(canonical), string(right)) {
			return // no document, or the right signature in another spelling
		}
		err = w.Execute(changed)
		var e *api.Error
		if !errors.As(err, &e) && err != nil {
			t.Fatalf("%s = %s: %v", at, value, err)
		}
		if s := w.Status(id); err == nil || s.Status != "" {
			t.Fatalf("%s = %s was accepted: %+v", at, value, s)
		}
	})
}
