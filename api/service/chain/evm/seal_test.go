package evm

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"errors"
	"math/big"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// fingerprint is everything a store holds, to show that nothing changed.
func fingerprint(t *testing.T, c *Chain) []byte {
	t.Helper()
	var out []byte
	err := c.store.View(func(tx store.Tx) error {
		for _, name := range []string{c.layout.state, c.layout.blocks, c.layout.txs, codeBucket, "record"} {
			tx.Bucket(name).Ascend(nil, func(k, v []byte) bool {
				out = append(append(out, k...), v...)
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return crypto.Keccak256(out)
}

// unchanged runs a seal that must fail and checks that it left nothing.
func unchanged(t *testing.T, c *Chain, req chain.SealRequest) error {
	t.Helper()
	before, head := fingerprint(t, c), c.Head().Hash
	_, err := c.Seal(context.Background(), req)
	if err == nil {
		t.Fatal("the block was sealed")
	}
	if !bytes.Equal(before, fingerprint(t, c)) || c.Head().Hash != head {
		t.Fatalf("a refused block left something behind (%v)", err)
	}
	// The next block must be possible, on the same parent.
	if b := seal(t, c, pay(treasury(), addr(key(9)), 1)); b.Parent != head {
		t.Fatal("the next block has another parent")
	}
	return err
}

func TestRefusedTransactionThrowsTheBlockAway(t *testing.T) {
	c := boltChain(t)
	good := pay(treasury(), addr(key(1)), 5)
	tooMuch := new(big.Int).Lsh(big.NewInt(1), 130)
	tests := map[string]struct {
		tx   chain.Tx
		want error
	}{
		"no funds": {pay(key(55), addr(key(1)), 1), core.ErrInsufficientFunds},
		"value over funds": {chain.Tx{From: signers.Local(treasury()), Value: tooMuch, Gas: 21_000},
			core.ErrInsufficientFunds},
		"negative value": {chain.Tx{From: signers.Local(treasury()), Value: big.NewInt(-1), Gas: 21_000},
			exec.ErrAmount},
		"257 bit value": {chain.Tx{From: signers.Local(treasury()), Value: new(big.Int).Lsh(big.NewInt(1), 256)},
			exec.ErrAmount},
		"gas too low": {chain.Tx{From: signers.Local(treasury()), Gas: 20_999}, core.ErrIntrinsicGas},
		"gas over EIP-7825": {
			chain.Tx{From: signers.Local(treasury()), Gas: MaxTxGas + 1}, core.ErrGasLimitTooHigh,
		},
		"no key": {chain.Tx{Gas: 21_000}, errNoKey},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := unchanged(t, c, chain.SealRequest{Txs: []chain.Tx{good, test.tx, good}})
			var refused *chain.TxError
			if !errors.As(err, &refused) || refused.Index != 1 || !errors.Is(err, test.want) {
				t.Fatalf("error is %v", err)
			}
		})
	}
	t.Run("authorization without a chain id", func(t *testing.T) {
		bad := chain.Tx{From: signers.Local(treasury()), Authorizations: make([]op.SignedAuthorization, 1)}
		var refused *chain.TxError
		if err := unchanged(t, c, chain.SealRequest{Txs: []chain.Tx{bad}}); !errors.As(err, &refused) {
			t.Fatalf("error is %v", err)
		}
	})
}

func TestFullBlockRefusesTheNextTransaction(t *testing.T) {
	c := memoryChain(t)
	burn := chain.Tx{From: signers.Local(treasury()), To: burner(t, c), Gas: MaxTxGas}
	err := unchanged(t, c, chain.SealRequest{Txs: []chain.Tx{burn, burn, burn, burn}})
	var refused *chain.TxError
	if !errors.As(err, &refused) || refused.Index != 3 || !errors.Is(err, core.ErrGasLimitReached) {
		t.Fatalf("error is %v", err)
	}
}

// burner deploys a contract that uses up all gas.
func burner(t *testing.T, c *Chain) common.Address {
	t.Helper()
	// Init code that returns the one byte 0xfe (INVALID).
	code := common.FromHex("60fe60005360016000f3")
	seal(t, c, chain.Tx{From: signers.Local(treasury()), To: DeterministicDeployer(),
		Data: append(make([]byte, 32), code...)})
	return crypto.CreateAddress2(DeterministicDeployer(), common.Hash{}, crypto.Keccak256(code))
}

func TestBlockThatIsNotAcceptedLeavesNothing(t *testing.T) {
	c := boltChain(t)
	why := errors.New("an operation failed")
	asked := 0
	err := unchanged(t, c, chain.SealRequest{
		Txs: []chain.Tx{pay(treasury(), addr(key(1)), 1e18), sendToken(t, key(1), tokenAt(0), addr(key(2)), 1)},
		Accept: func(rcs []chain.Receipt) error {
			asked++
			if len(rcs) != 2 || !rcs[0].Success || rcs[1].Success {
				t.Errorf("receipts are %+v", rcs)
			}
			return why
		},
		Record: func(store.Tx, chain.Block) error { t.Error("recorded all the same"); return nil },
	})
	if !errors.Is(err, chain.ErrNotAccepted) || !errors.Is(err, why) || asked != 1 {
		t.Fatalf("error is %v after %d questions", err, asked)
	}
}

func TestAcceptMayLookAtTheChain(t *testing.T) {
	c := boltChain(t)
	_, err := c.Seal(context.Background(), chain.SealRequest{
		Txs: []chain.Tx{pay(treasury(), addr(key(1)), 5)},
		Accept: func([]chain.Receipt) error {
			st, err := c.State(context.Background(), 0)
			if err != nil {
				return err
			}
			defer st.Close()
			if st.Balance(addr(key(1))).Sign() != 0 || c.Head().Number != 0 {
				t.Error("the block is visible before it is accepted")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecordIsInTheSameCommitAsTheBlock(t *testing.T) {
	c := boltChain(t)
	record := func(tx store.Tx, b chain.Block) error {
		return tx.Bucket("record").Put([]byte("head"), b.Hash[:])
	}
	why := errors.New("disk full")
	err := unchanged(t, c, chain.SealRequest{
		Txs: []chain.Tx{pay(treasury(), addr(key(1)), 5)},
		Record: func(tx store.Tx, b chain.Block) error {
			return errors.Join(record(tx, b), why)
		},
	})
	if !errors.Is(err, why) {
		t.Fatalf("error is %v", err)
	}
	b, err := c.Seal(context.Background(), chain.SealRequest{Txs: []chain.Tx{pay(treasury(), addr(key(1)), 5)},
		Record: record})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.store.View(func(tx store.Tx) error {
		if got := tx.Bucket("record").Get([]byte("head")); !bytes.Equal(got, b.Hash[:]) {
			t.Errorf("recorded %x, sealed %s", got, b.Hash)
		}
		return nil
	})
}

func TestPanicInRecordLeavesNothing(t *testing.T) {
	c := boltChain(t)
	before := fingerprint(t, c)
	func() {
		defer func() { _ = recover() }()
		_, _ = c.Seal(context.Background(), chain.SealRequest{
			Record: func(store.Tx, chain.Block) error { panic("broken") }})
		t.Error("the panic was swallowed")
	}()
	if !bytes.Equal(before, fingerprint(t, c)) || c.Head().Number != 0 {
		t.Fatal("something is left")
	}
	seal(t, c)
}

func TestNoncesCountWithinABlock(t *testing.T) {
	c := memoryChain(t)
	b := seal(t, c, pay(treasury(), addr(key(1)), 1e17), pay(treasury(), addr(key(2)), 2), pay(key(1), addr(key(2)), 3))
	st := stateOf(t, c)
	if st.Nonce(addr(treasury())) != 2 || st.Nonce(addr(key(1))) != 1 || st.Balance(addr(key(2))).Int64() != 5 {
		t.Fatalf("nonces %d, %d, balance %s", st.Nonce(addr(treasury())), st.Nonce(addr(key(1))),
			st.Balance(addr(key(2))))
	}
	for i, r := range b.Receipts {
		if r.Index != i || r.Block != 1 || r.BlockHash != b.Hash || r.Time != b.Time || !r.Success ||
			r.GasUsed != 21_000 {
			t.Fatalf("receipt %d is %+v", i, r)
		}
	}
	if b.Receipts[2].From != addr(key(1)) || b.Receipts[2].To != addr(key(2)) {
		t.Fatalf("receipt is %+v", b.Receipts[2])
	}
}

// Protocol §5.3: block time is the later of the clock and the parent's time.
func TestBlockTimeNeverGoesBack(t *testing.T) {
	c := memoryChain(t)
	for _, test := range []struct{ clock, want uint64 }{
		{0, genesisTime}, {genesisTime + 7, genesisTime + 7}, {genesisTime + 3, genesisTime + 7},
		{genesisTime + 7, genesisTime + 7},
	} {
		b, err := c.Seal(context.Background(), chain.SealRequest{Time: test.clock,
			Txs: []chain.Tx{pay(treasury(), addr(key(1)), 1)}})
		if err != nil {
			t.Fatal(err)
		}
		if b.Time != test.want {
			t.Fatalf("clock %d gives %d, want %d", test.clock, b.Time, test.want)
		}
	}
	if n, err := c.Verify(context.Background()); err != nil || n != 4 {
		t.Fatalf("equal timestamps do not replay: %d, %v", n, err)
	}
}

func TestFeesAreBurnedAndNothingElseChangesTheSupply(t *testing.T) {
	c := memoryChain(t)
	st := stateOf(t, c)
	before := st.Balance(addr(treasury()))
	st.Close()
	burned := new(big.Int)
	for range 5 {
		b := seal(t, c, pay(treasury(), addr(key(1)), 1e15), sendToken(t, treasury(), tokenAt(0), addr(key(2)), 1))
		burned.Add(burned, new(big.Int).Mul(b.BaseFee, new(big.Int).SetUint64(b.GasUsed)))
	}
	st = stateOf(t, c)
	after := new(big.Int).Add(st.Balance(addr(treasury())), st.Balance(addr(key(1))))
	if after.Add(after, burned); after.Cmp(before) != 0 {
		t.Fatalf("balances and burned fees are %s, want %s", after, before)
	}
	if st.Balance(common.Address{}).Sign() != 0 {
		t.Fatal("somebody was paid for sealing")
	}
}

func TestFailedTransactionCarriesRevertDataRightAfterSeal(t *testing.T) {
	c := boltChain(t)
	b := seal(t, c, sendToken(t, treasury(), tokenAt(0), common.Address{}, 1)) // ERC20InvalidReceiver(0)
	a, _ := contract(t, "Token")
	want := append(bytes.Clone(a.Errors["ERC20InvalidReceiver"].ID.Bytes()[:4]), make([]byte, 32)...)
	if b.Receipts[0].Success || !bytes.Equal(b.Receipts[0].Revert, want) {
		t.Fatalf("receipt is %+v", b.Receipts[0])
	}
	got, found, err := c.Receipt(context.Background(), b.Receipts[0].TxHash)
	if err != nil || !found || got.Success || got.Revert != nil {
		t.Fatalf("stored receipt is %+v (%v, %v)", got, found, err)
	}
}

func TestAuthorizationDelegatesInAType4Transaction(t *testing.T) {
	c := memoryChain(t)
	eoa := key(3)
	b := seal(t, c, chain.Tx{
		From: signers.Local(treasury()), To: addr(eoa), Data: pack(t, "Token", "decimals"),
		Authorizations: auths(authorize(t, eoa, c.ID(), tokenAt(0), 0)),
	})
	st := stateOf(t, c)
	want := append([]byte{0xef, 0x01, 0x00}, tokenAt(0).Bytes()...)
	if !b.Receipts[0].Success || !bytes.Equal(st.Code(addr(eoa)), want) || st.Nonce(addr(eoa)) != 1 {
		t.Fatalf("code %x, nonce %d, %+v", st.Code(addr(eoa)), st.Nonce(addr(eoa)), b.Receipts[0])
	}
	// One for another chain is skipped by the protocol, the transaction stays.
	other := key(4)
	b = seal(t, c, chain.Tx{From: signers.Local(treasury()), To: tr2(),
		Authorizations: auths(authorize(t, other, 1, tokenAt(0), 0))})
	if st := stateOf(t, c); !b.Receipts[0].Success || st.Code(addr(other)) != nil || st.Nonce(addr(other)) != 0 {
		t.Fatalf("a foreign authorization was applied")
	}
}

func TestReceiptsAndBlocksSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chain.db")
	s, spec := boltStore(t, path), testSpec(t, 8453)
	c := openTest(t, s, spec)
	sealed := seal(t, c, sendToken(t, treasury(), tokenAt(0), addr(key(1)), 7), pay(treasury(), addr(key(2)), 1))
	s.Close()

	c = openTest(t, boltStore(t, path), spec)
	if c.Head().Hash != sealed.Hash || c.Head().BaseFee.Cmp(sealed.BaseFee) != 0 {
		t.Fatalf("head is %+v", c.Head())
	}
	rc, found, err := c.Receipt(context.Background(), sealed.Receipts[0].TxHash)
	if err != nil || !found || len(rc.Logs) != 1 {
		t.Fatalf("%+v, %v, %v", rc, found, err)
	}
	a, _ := contract(t, "Token")
	log := rc.Logs[0]
	if log.Address != tokenAt(0) || log.Topics[0] != a.Events["Transfer"].ID ||
		common.BytesToAddress(log.Topics[2][:]) != addr(key(1)) || new(big.Int).SetBytes(log.Data).Int64() != 7 {
		t.Fatalf("log is %+v", log)
	}
	b, found, err := c.Block(context.Background(), 1)
	if err != nil || !found || b.Hash != sealed.Hash || len(b.Receipts) != 2 ||
		b.Receipts[1].TxHash != sealed.Receipts[1].TxHash {
		t.Fatalf("block is %+v, %v, %v", b, found, err)
	}
	if _, found, err := c.Block(context.Background(), 2); found || err != nil {
		t.Fatalf("a block that is not there: %v, %v", found, err)
	}
	if _, found, err := c.Receipt(context.Background(), common.Hash{1}); found || err != nil {
		t.Fatalf("a receipt that is not there: %v, %v", found, err)
	}
	if next := seal(t, c, pay(treasury(), addr(key(2)), 1)); next.Number != 2 || next.Parent != sealed.Hash {
		t.Fatalf("the chain does not go on: %+v", next.Header)
	}
}

func TestSecondWriterOnTheSameStoreIsRefused(t *testing.T) {
	s, spec := store.NewMemory(), testSpec(t, 8453)
	first, second := openTest(t, s, spec), openTest(t, s, spec)
	_, err := first.Seal(context.Background(), chain.SealRequest{Accept: func([]chain.Receipt) error {
		seal(t, second)
		return nil
	}})
	if !errors.Is(err, ErrConflict) {
		t.Fatalf("error is %v", err)
	}
	if b := seal(t, first, pay(treasury(), addr(key(1)), 1)); b.Number != 2 {
		t.Fatalf("block %d follows", b.Number)
	}
}

// keys of many accounts that pay each other.
func payers(n int) []*ecdsa.PrivateKey {
	out := make([]*ecdsa.PrivateKey, n)
	for i := range out {
		out[i] = key(200 + i)
	}
	return out
}

// failing is a signer that cannot be reached.
type failing struct{ signers.EVM }

var errAway = errors.New("the signer does not answer")

func (failing) SignTx(context.Context, *types.Transaction, *big.Int) (*types.Transaction, error) {
	return nil, errAway
}

func TestAFailingSignerIsNoRefusalOfItsTransaction(t *testing.T) {
	c := memoryChain(t)
	before := c.Head()
	_, err := c.Seal(t.Context(), chain.SealRequest{Txs: []chain.Tx{{From: failing{signers.Local(treasury())}}}})
	var refused *chain.TxError
	if !errors.Is(err, errAway) || errors.As(err, &refused) || c.Head().Hash != before.Hash {
		t.Errorf("%v, expected the signer's error and no block", err)
	}
}
