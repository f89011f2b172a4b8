package attest_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/op/solmsg"
	"coffer/api/service/attest"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/signers"
)

const (
	target   = 8453
	deadline = 1_760_000_600
)

func fillerAt() common.Address { return common.HexToAddress("0xf1") }

type receipts map[common.Hash]chain.Receipt

func (r receipts) Receipt(_ context.Context, tx common.Hash) (chain.Receipt, bool, error) {
	got, found := r[tx]
	return got, found, nil
}

type ledger map[string]solana.Receipt

func (l ledger) Receipt(_ context.Context, signature string) (solana.Receipt, bool, error) {
	r, found := l[signature]
	return r, found, nil
}

func key(t *testing.T, label string) *signers.Key {
	t.Helper()
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte(label)))
	if err != nil {
		t.Fatal(err)
	}
	return signers.Local(k)
}

func claim() attest.Claim {
	return attest.Claim{
		Escrow:  escrow.Place{ChainID: 42161, Escrow: common.HexToAddress("0xe5"), Salt: [32]byte{7}},
		QuoteID: common.HexToHash("0x11"), Depositor: common.HexToAddress("0xd0"),
		Terms: escrow.Terms{TargetChain: target, FillDeadline: deadline, Operations: [][32]byte{{1}},
			Minimums: []escrow.Minimum{{To: escrow.Padded(common.HexToAddress("0xd0")), Amount: big.NewInt(5)}}},
		Fill: common.HexToHash("0xf111").Hex(),
	}
}

// attester is one that sees what is given on the target chain.
func attester(k signers.Attester, on receipts) *attest.Attester {
	return &attest.Attester{Key: k, Filler: fillerAt(), Escrow: claim().Escrow.Escrow, Salt: claim().Escrow.Salt,
		Chains: map[uint64]attest.Receipts{target: on, claim().Escrow.ChainID: receipts{}}}
}

// filled is the receipt of the fill of a claim.
func filled(c attest.Claim) chain.Receipt {
	terms := c.Terms.Hash(fillerAt(), c.QuoteID, c.Depositor)
	return chain.Receipt{Success: true, Logs: []chain.Log{
		{Address: common.HexToAddress("0x9"), Topics: []common.Hash{{3}}, Data: []byte{1}},
		{Address: fillerAt(), Topics: []common.Hash{filler.FilledTopic(), c.QuoteID}, Data: terms[:]},
	}}
}

func TestAnAttesterSignsTheFillersOwnLogOfTheseTermsAndNothingElse(t *testing.T) {
	k := key(t, "attester")
	for name, c := range map[string]struct {
		change  func(*attest.Claim, *chain.Receipt)
		refused bool
	}{
		"the fill":             {func(*attest.Claim, *chain.Receipt) {}, false},
		"no such transaction":  {func(c *attest.Claim, _ *chain.Receipt) { c.Fill = "0x01" }, true},
		"another escrow":       {func(c *attest.Claim, _ *chain.Receipt) { c.Escrow.Escrow[0]++ }, true},
		"an escrow elsewhere":  {func(c *attest.Claim, _ *chain.Receipt) { c.Escrow.ChainID++ }, true},
		"it failed":            {func(_ *attest.Claim, r *chain.Receipt) { r.Success = false }, true},
		"a stranger's log":     {func(_ *attest.Claim, r *chain.Receipt) { r.Logs[1].Address[0]++ }, true},
		"another quote's log":  {func(_ *attest.Claim, r *chain.Receipt) { r.Logs[1].Topics[1][31]++ }, true},
		"another depositor":    {func(c *attest.Claim, _ *chain.Receipt) { c.Depositor[0]++ }, true},
		"a log of other terms": {func(_ *attest.Claim, r *chain.Receipt) { r.Logs[1].Data[0]++ }, true},
		"another log": {func(_ *attest.Claim,
			r *chain.Receipt) {
			r.Logs[1].Topics[0] = filler.VoidedTopic()
		}, true},
		"smaller terms": {func(c *attest.Claim,
			_ *chain.Receipt) {
			c.Terms.Minimums[0].Amount = big.NewInt(4)
		}, true},
		"other operations":       {func(c *attest.Claim, _ *chain.Receipt) { c.Terms.Operations = nil }, true},
		"a chain that is not":    {func(c *attest.Claim, _ *chain.Receipt) { c.Terms.TargetChain = 10 }, true},
		"another network":        {func(c *attest.Claim, _ *chain.Receipt) { c.Escrow.Salt[0]++ }, true},
		"a chain that is Solana": {func(c *attest.Claim, _ *chain.Receipt) { c.Terms.TargetChain = 0 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			cl := claim()
			r := filled(cl)
			at := common.HexToHash(cl.Fill)
			c.change(&cl, &r)
			a := attester(k, receipts{at: r})
			sig, err := a.Attest(context.Background(), cl)
			if c.refused != errors.Is(err, attest.ErrNotFilled) ||
				errors.Is(err, attest.ErrNotYet) != (name == "no such transaction") {
				t.Fatalf("error %v", err)
			}
			if c.refused {
				return
			}
			digest := cl.Escrow.Attestation(cl.QuoteID, cl.Depositor,
				cl.Terms.Hash(fillerAt(), cl.QuoteID, cl.Depositor))
			if by, err := op.Recover(digest.Digest(), sig); err != nil || by != k.Address() {
				t.Errorf("signed by %s, %v", by, err)
			}
		})
	}
}

// onSolana is a claim of a delivery on Solana and the transaction that made it.
func onSolana(t *testing.T, memos ...string) (attest.Claim, solana.Receipt) {
	t.Helper()
	mint, to := [32]byte{1, 2}, [32]byte{3, 4}
	c := claim()
	c.Terms = escrow.Terms{FillDeadline: deadline, Minimums: []escrow.Minimum{
		{To: to, Amount: big.NewInt(7)}, {Token: mint, To: to, Amount: big.NewInt(5)}}}
	c.Fill = "fill"
	if memos == nil {
		memos = []string{attest.Memo(c.QuoteID, c.Depositor)}
	}
	var list []solmsg.Build
	for _, m := range memos {
		list = append(list, solmsg.Memo(m))
	}
	list = append(list, solmsg.SystemTransfer(solmsg.Key{9}, to, 7))
	m, err := solmsg.Compose(solmsg.Key{9}, solmsg.Key{8}, list...)
	if err != nil {
		t.Fatal(err)
	}
	owner := caip.FormatSolanaKey(to)
	return c, solana.Receipt{Success: true, Time: deadline, Message: m.Bytes(), Changes: []solana.Change{
		{Account: owner, Before: big.NewInt(1), After: big.NewInt(8)},
		{Account: "a", Owner: owner, Mint: caip.FormatSolanaKey(mint), Before: new(big.Int), After: big.NewInt(3)},
		{Account: "b", Owner: owner, Mint: caip.FormatSolanaKey(mint), Before: big.NewInt(2), After: big.NewInt(4)},
		{Account: "c", Owner: "another", Mint: caip.FormatSolanaKey(mint), Before: new(big.Int), After: big.NewInt(9)},
	}}
}

func TestAnAttesterCountsWhatASolanaTransactionBrought(t *testing.T) {
	for name, c := range map[string]struct {
		memos   []string
		change  func(*attest.Claim, *solana.Receipt)
		refused bool
	}{
		"the fill": {nil, func(*attest.Claim, *solana.Receipt) {}, false},
		"another quote": {[]string{attest.Memo(common.HexToHash("0x12"), claim().Depositor)},
			func(*attest.Claim, *solana.Receipt) {}, true},
		"another depositor": {nil, func(c *attest.Claim, _ *solana.Receipt) { c.Depositor[0]++ }, true},
		"no memo":           {[]string{}, func(*attest.Claim, *solana.Receipt) {}, true},
		"two memos": {[]string{common.HexToHash("0x12").Hex(), attest.Memo(claim().QuoteID, claim().Depositor)},
			func(*attest.Claim, *solana.Receipt) {}, true},
		"it failed": {nil, func(_ *attest.Claim, r *solana.Receipt) { r.Success = false }, true},
		"too late":  {nil, func(_ *attest.Claim, r *solana.Receipt) { r.Time++ }, true},
		"too few lamports": {nil, func(_ *attest.Claim, r *solana.Receipt) { r.Changes[0].After = big.NewInt(7) },
			true},
		"too few tokens": {nil, func(_ *attest.Claim, r *solana.Receipt) { r.Changes[2].After = big.NewInt(3) },
			true},
		"a minimum that is there twice": {nil, func(c *attest.Claim, _ *solana.Receipt) {
			c.Terms.Minimums = append(c.Terms.Minimums, c.Terms.Minimums[1])
		}, true},
		"another mint":       {nil, func(_ *attest.Claim, r *solana.Receipt) { r.Changes[1].Mint = "x" }, true},
		"it cannot be found": {nil, func(c *attest.Claim, _ *solana.Receipt) { c.Fill = "other" }, true},
		"operations in terms": {nil, func(c *attest.Claim, _ *solana.Receipt) { c.Terms.Operations = [][32]byte{{1}} },
			true},
	} {
		t.Run(name, func(t *testing.T) {
			cl, r := onSolana(t, c.memos...)
			c.change(&cl, &r)
			a := attester(key(t, "attester"), nil)
			a.Solana = ledger{"fill": r}
			if _, err := a.Attest(context.Background(), cl); c.refused != errors.Is(err, attest.ErrNotFilled) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

type refuses struct{ *signers.Key }

func (refuses) Attest(context.Context, attest.Claim) ([]byte, error) { return nil, attest.ErrNotFilled }

// hangs never answers.
type hangs struct{ *signers.Key }

func (hangs) Attest(ctx context.Context, _ attest.Claim) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAttestationsAreCollectedInTheOrderOfTheEscrow(t *testing.T) {
	cl := claim()
	sound := func(label string) attest.Port {
		return attester(key(t, label), receipts{common.HexToHash(cl.Fill): filled(cl)})
	}
	all := []attest.Port{sound("a"), refuses{key(t, "b")}, sound("c"), sound("d"), hangs{key(t, "e")}}
	sigs, err := attest.Collect(context.Background(), fillerAt(), all, 3, cl)
	if err != nil || len(sigs) != 3 {
		t.Fatal(len(sigs), err)
	}
	digest := cl.Attestation(fillerAt()).Digest()
	var last common.Address
	for _, s := range sigs {
		by, err := op.Recover(digest, s)
		if err != nil || by.Cmp(last) <= 0 {
			t.Fatalf("%s after %s, %v", by, last, err)
		}
		last = by
	}
	if _, err := attest.Collect(context.Background(), fillerAt(), all[:4], 4, cl); !errors.Is(err, attest.ErrTooFew) ||
		!errors.Is(err, attest.ErrNotFilled) {
		t.Error("four of three: ", err)
	}
	if _, err := attest.Collect(context.Background(), fillerAt(), nil, 1, cl); !errors.Is(err, attest.ErrTooFew) {
		t.Error("one of none: ", err)
	}
}
