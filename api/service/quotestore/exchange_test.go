package quotestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
)

const (
	usdcSPL = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	dave    = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
)

// swap issues a quote of alice and carol without a prepared operation: 10 on Optimism and 7 on Solana pay, up to 1 000
// USDC arrive on Solana.
func (s *shelf) swap(tb testing.TB, version int) *quotestore.Quote {
	tb.Helper()
	s.n++
	at := uint64(s.clock.now.Unix())
	q := &quotestore.Quote{
		ID: fmt.Sprintf("0x%064x", s.n), Version: version, Owner: common.HexToAddress(alice), SolanaOwner: carol,
		Minimum:   big.NewInt(900),
		Recipient: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:" + dave, Expires: at + 30, ValidUntil: at + 600,
		Type: api.RecordSwap,
		Accounts: []api.Account{{Type: api.AccountKernelV33, AccountAddress: alice},
			{Type: api.AccountSolana, AccountAddress: carol}},
		Legs: []quotestore.Leg{
			{
				ChainID: 10, Pays: quotestore.Amount{Asset: "eip155:10/slip44:60", Value: big.NewInt(10)},
				Op:        api.UserOp{Sender: "0xaa", Nonce: fmt.Sprint(s.n)},
				Signature: "0x01", Delegation: &api.Delegation{ContractAddress: "0xbb", Nonce: 3,
					Signature: &api.DelegationSignature{R: "0x11"}},
			},
			{Pays: quotestore.Amount{Asset: usdcSPL, Value: big.NewInt(7)}, Message: "AQ==", Signature: "5u"},
		},
		Fills: []quotestore.Fill{{Delivers: quotestore.Amount{Asset: usdcSPL, Value: big.NewInt(1000)}, Swapped: true,
			PricePay: big.NewInt(2), PriceGet: big.NewInt(1)}},
	}
	doc := fmt.Sprintf(
		`{"id":%q,"originToken":{"aggregatedAssetId":"ob:eth","amount":"1","assetType":[],"fiatValue":[]},`+
			`"destinationToken":{"aggregatedAssetId":"ob:usdc","amount":"1000","assetType":%q,"fiatValue":"12.00"}}`,
		q.ID, usdcSPL)
	must(tb, s.Offer(ctx(), q, []byte(doc), quotestore.Context{}))
	return q
}

func (s *shelf) acceptSwap(tb testing.TB, version int) *quotestore.Quote {
	tb.Helper()
	q := s.swap(tb, version)
	must(tb, s.take(q))
	return q
}

func TestRecordsOfV1AndV3QuotesReadTheSame(t *testing.T) {
	s := open(t)
	for _, version := range []int{0, 1} {
		s.save(t, s.acceptSwap(t, version).Clone(), api.StatusCompleted)
	}
	p := s.page(t, quotestore.HistoryQuery{User: carol})
	if len(p.Transactions) != 2 {
		t.Fatalf("%d records", len(p.Transactions))
	}
	v1, v3 := p.Transactions[0], p.Transactions[1]
	v3.QuoteID, v3.Timestamp = v1.QuoteID, v1.Timestamp
	a, err := api.Encode(v1)
	must(t, err)
	b, err := api.Encode(v3)
	must(t, err)
	if string(a.Raw()) != string(b.Raw()) {
		t.Errorf("%s\n%s", a.Raw(), b.Raw())
	}
	if v1.Type != api.RecordSwap || v1.User != alice ||
		v1.RecipientAccountID != "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/"+dave {
		t.Errorf("record %+v", v1)
	}
}

func TestTheRecipientHasNoHistoryOfTheQuote(t *testing.T) {
	s := open(t)
	s.acceptSwap(t, 0)
	if p := s.page(t, quotestore.HistoryQuery{User: dave}); len(p.Transactions) != 0 {
		t.Error("a quote stands under an account that is not one of its own")
	}
	for _, user := range []string{alice, carol} {
		if p := s.page(t, quotestore.HistoryQuery{User: user}); len(p.Transactions) != 1 {
			t.Errorf("%d records of %s", len(p.Transactions), user)
		}
	}
}

func TestSolanaTransactionsAreNamedByTheirSignature(t *testing.T) {
	s := open(t)
	q := s.acceptSwap(t, 0).Clone()
	q.Legs[1].State, q.Legs[1].DepositTx = quotestore.LegDeposited, "3deposit"
	q.Origin = append(q.Origin, quotestore.Ref{Signature: "3deposit", URL: "https://x/explorer/solana"})
	s.save(t, q, api.StatusInProgress)
	status, _, err := s.Status(context.Background(), q.ID)
	must(t, err)
	want := api.OperationRef{Hash: "3deposit", Chain: caip.SolanaMainnet().String(),
		ExplorerURL: "https://x/explorer/solana"}
	if len(status.OriginChainOperations) != 1 || status.OriginChainOperations[0] != want {
		t.Errorf("%+v", status.OriginChainOperations)
	}
}

func TestHistoryShowsWhatASwapDelivered(t *testing.T) {
	s := open(t)
	q := s.acceptSwap(t, 0)
	shown := func() string {
		d := s.page(t, quotestore.HistoryQuery{}).Transactions[0].DestinationToken
		return d.Amount + " " + d.FiatValue
	}
	if got := shown(); got != "1000 12.00" {
		t.Errorf("before the fill: %s", got)
	}
	q = q.Clone()
	q.Fills[0].Delivers.Value = big.NewInt(950)
	q.Destination = []quotestore.Ref{{Signature: "3fill"}}
	s.save(t, q, api.StatusExecuted)
	if got := shown(); got != "950 11.40" {
		t.Errorf("after the fill: %s", got)
	}
}

func TestPledgesOfASolanaLegStandUnderTheSolanaAccount(t *testing.T) {
	s := open(t)
	q := s.acceptSwap(t, 0)
	pledged := func(owner, asset string) string { return s.pledged(t, owner, asset) }
	if a, b, c := pledged(carol, usdcSPL), pledged(alice, "eip155:10/slip44:60"), pledged(alice, usdcSPL); a != "7" ||
		b != "10" || c != "0" {
		t.Errorf("pledged %s, %s, %s", a, b, c)
	}
	q = q.Clone()
	q.Legs[1].State = quotestore.LegDeposited
	s.save(t, q, api.StatusInProgress)
	if a := pledged(carol, usdcSPL); a != "0" {
		t.Errorf("%s stay pledged after the deposit", a)
	}
	q = q.Clone()
	q.FailReason = "SLIPPAGE"
	s.save(t, q, api.StatusRefunded)
	if a := pledged(alice, "eip155:10/slip44:60"); a != "0" {
		t.Errorf("%s stay pledged at the end", a)
	}
}

func TestOneAuthorizationOfAnEOAAndChainBelongsToOneExecutingQuote(t *testing.T) {
	s := open(t)
	first := s.acceptSwap(t, 0)
	second := s.swap(t, 0)
	accept := func() error { return s.take(second) }
	if err := accept(); !errors.Is(err, quotestore.ErrClaimed) {
		t.Fatalf("two quotes carry the same authorization: %v", err)
	}
	done := first.Clone()
	s.save(t, done, api.StatusCompleted)
	must(t, accept())
	claims := first.Claims(quotestore.Context{})
	slices.Sort(claims)
	if got := strings.Join(claims, " "); got != "eip155:10/0xaa/deploy eip155:10/0xaa/nonce/1" {
		t.Errorf("claims %s", got)
	}
}

func TestPreparedAndFundingOperationsShareOneClaimOnAnAuthorization(t *testing.T) {
	d := &api.Delegation{ContractAddress: "0xbb", Nonce: 3}
	q := &quotestore.Quote{OpHash: common.Hash{1}, ChainID: 10, Legs: []quotestore.Leg{
		{ChainID: 10, Op: api.UserOp{Sender: "0xaa", Nonce: "9"}, Delegation: d},
		{ChainID: 10, Op: api.UserOp{Sender: "0xaa", Nonce: "9"}, Delegation: d},
	}}
	got := q.Claims(quotestore.Context{Op: api.UserOp{Sender: "0xaa", Nonce: "5"}, Delegation: d})
	if want := []string{"eip155:10/0xaa/nonce/5", "eip155:10/0xaa/deploy", "eip155:10/0xaa/nonce/9"}; !slices.Equal(got,
		want) {
		t.Errorf("claims %v", got)
	}
}

func TestSignedAuthorizationsAndMessagesAreGoneWithTheEnd(t *testing.T) {
	s := open(t)
	q := s.acceptSwap(t, 0)
	s.save(t, q.Clone(), api.StatusRefunded)
	kept, err := s.Quote(ctx(), q.ID)
	must(t, err)
	for i, l := range kept.Legs {
		if l.Signature != "" || l.Delegation != nil && l.Delegation.Signature != nil {
			t.Errorf("leg %d is still signed: %+v", i, l)
		}
	}
	if d := kept.Legs[0].Delegation; d == nil || d.Nonce != 3 {
		t.Errorf("the delegation itself is gone: %+v", d)
	}
}

func TestRecordsOfTheEarlierFormStayReadable(t *testing.T) {
	s := open(t)
	const id = "0x00000000000000000000000000000000000000000000000000000000000000aa"
	old := `{"id":"` + id +
		`","opHash":"0x0000000000000000000000000000000000000000000000000000000000000001","chainId":8453,` +
		`"accounts":[{"type":"kernel-v3.1-ecdsa","accountAddress":"` +
		alice + `"}],"owner":"` + strings.ToLower(alice) +
		`","expires":1,"validAfter":1,"validUntil":2,` +
		`"canonical":"0x0000000000000000000000000000000000000000000000000000000000000002",` +
		`"legs":[{"chainId":10,"pays":{"asset":"eip155:10/slip44:60","value":10},"op":{"sender":"0xaa","nonce":"1",` +
		`"callData":"0x","callGasLimit":"0","verificationGasLimit":"0","preVerificationGas":"0","maxFeePerGas":"0",` +
		`"maxPriorityFeePerGas":"0","signature":"0x"},"state":"released",` +
		`"deposit":"0x0000000000000000000000000000000000000000000000000000000000000003"}],` +
		`"status":"COMPLETED","origin":[{"chainId":10,` +
		`"hash":"0x0000000000000000000000000000000000000000000000000000000000000003","url":"u"}],"type":"CALL"}`
	must(t, s.store.Update(func(tx store.Tx) error { return tx.Bucket("book-quote").Put([]byte(id), []byte(old)) }))
	status, known, err := s.Status(context.Background(), id)
	must(t, err)
	if !known || status.RecipientAccountID != "eip155:8453/"+common.HexToAddress(alice).Hex() ||
		status.OriginChainOperations[0].Chain != "eip155:10" {
		t.Errorf("%t %+v", known, status)
	}
}

func TestLatestMovesWithEveryStepOfAnyQuoteOfTheAccount(t *testing.T) {
	s := open(t)
	latest := func(owner string) quotestore.Seen {
		v, err := s.Latest(ctx(), owner)
		must(t, err)
		return v
	}
	if v := latest(alice); v != (quotestore.Seen{}) {
		t.Errorf("%v without a quote", v)
	}
	q := s.swap(t, 0)
	if v := latest(alice); v != (quotestore.Seen{}) {
		t.Errorf("%v with an offer", v)
	}
	before := quotestore.Seen{}
	moved := func(what string) {
		t.Helper()
		if v := latest(strings.ToLower(alice)); v == before || v != latest(carol) {
			t.Errorf("%s: %v after %v", what, v, before)
		} else {
			before = v
		}
	}
	must(t, s.take(q))
	moved("accepted")
	s.save(t, q.Clone(), api.StatusInProgress)
	moved("a step")
	next, err := s.Quote(ctx(), q.ID)
	must(t, err)
	s.save(t, next, api.StatusFailed)
	moved("the end")
	if v := latest(dave); v != (quotestore.Seen{}) {
		t.Errorf("%v for somebody else", v)
	}
}
