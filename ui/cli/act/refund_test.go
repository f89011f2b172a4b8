package act

import (
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api"
	calls "coffer/api/op/escrow"
	"coffer/wallet/journal"
)

// someRefunds gives the journal a quote that ended COMPLETED and one that may be taken back, of two payments; the
// quotes' own texts are gone.
func someRefunds(r *rig) {
	someBook(r)
	r.s.Network.Pins.Escrow = common.HexToAddress(escrow)
	r.book[0].Signatures[0].Sent = true
	sig := r.book[0].Signatures[0]
	sig.QuoteID = quoteID(6)
	second := sig
	second.Chain, second.ChainID = "eip155:8453", 8453
	second.Spend = []journal.Spend{{Asset: "eip155:8453/erc20:" + strings.ToLower(usdc), Amount: "25000000"}}
	r.book = append(r.book, journal.Operation{ID: "3333333333333333", State: journal.Done, Outcome: api.StatusFailed,
		QuoteID: quoteID(6), RefundFrom: start().Add(-time.Minute).Unix(),
		Signatures: []journal.Signature{sig, second}}, journal.Operation{ID: "4444444444444444",
		State: journal.Acked, QuoteID: quoteID(7), RefundFrom: start().Add(time.Hour).Unix(),
		Signatures: []journal.Signature{second}})
	r.book[3].Signatures[0].QuoteID = quoteID(7)
}

// TestRefundPrintsCallsThatAnybodyCanSend: the call names quote and depositor, whatever the service says, and nothing
// is asked of it.
func TestRefundPrintsCallsThatAnybodyCanSend(t *testing.T) {
	r := newRig(t)
	someRefunds(r)
	data := func(n int) string {
		return common.Bytes2Hex(calls.RefundCalldata(common.HexToHash(quoteID(n)), common.HexToAddress(account)))
	}
	r.done(0, "refund", "--print")
	out := r.out.String()
	if strings.Count(out, data(6)) != 2 || strings.Count(out, data(7)) != 1 || strings.Contains(out, data(5)) {
		t.Errorf("%s", out)
	}
	for _, words := range []string{"3 payments", "it can be sent now", "before that it does nothing", escrow, "25 USDC",
		"Base (eip155:8453)", "COMPLETED, as the service says", "coffer refund --print " + quoteID(5)} {
		if !strings.Contains(out, words) {
			t.Errorf("%q is not said:\n%s", words, out)
		}
	}
	r.done(0, "refund", "--print", quoteID(5)) // one that ended COMPLETED, by its name
	if out = r.out.String(); !strings.Contains(out, data(5)) || strings.Contains(out, data(6)) {
		t.Errorf("%s", out)
	}
	r.done(0, "refund", "--json")
	var all []refundFact
	if err := json.Unmarshal(r.out.Bytes(), &all); err != nil || len(all) < 4 ||
		all[0].ServiceSays == api.StatusCompleted || all[len(all)-1].ServiceSays != api.StatusCompleted {
		t.Errorf("%v\n%s", err, &r.out)
	}
	r.done(2, "refund", "--print", quoteID(8))
	r.done(2, "refund", "--print", "0x12")
	r.done(1, "refund", "--rpc", "http://127.0.0.1:1", "--yes") // nothing answers there
	if r.out.Len() != 0 || !strings.Contains(r.err.String(), "http://127.0.0.1:1") {
		t.Errorf("%s%s", &r.out, &r.err)
	}
	r.done(2, "refund", "--rpc", "http://node.example")
	r.done(2, "refund")
	if r.out.Len() != 0 || !strings.Contains(r.err.String(), "coffer refund --print") {
		t.Errorf("%s%s", &r.out, &r.err)
	}
	if r.asks != 0 || len(r.service.queries) != 0 || len(r.wrote) != 0 {
		t.Error("the service or the journal was asked for more")
	}
}
