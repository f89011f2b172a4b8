package evm_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/signers"
	"coffer/assets"
)

// fillWorld is a world with the filler, the escrow, and contracts that attack them. The filler is the paymaster. It
// owns 1 000 000 of the token, the hostile token and wei.
type fillWorld struct {
	*world
	filler, escrow                   named
	hostileToken, recipient, hostile named // hostile is an account
	cold, hot                        *ecdsa.PrivateKey
	attesters                        []*ecdsa.PrivateKey // three, ascending by address; two sign a release
	at                               escrow.Place
	payer                            common.Address // whose deposits fills are for
}

const (
	stock    = 1_000_000
	capacity = 500_000 // of each token and of wei
	refill   = 10      // a second
)

func newFillWorld(t *testing.T) *fillWorld {
	t.Helper()
	return newFillWorldOwned(t, addressOf(key("cold")))
}

// newFillWorldOwned gives the filler an owner of the caller's choice.
func newFillWorldOwned(t *testing.T, owner common.Address) *fillWorld {
	t.Helper()
	at := func(n byte) common.Address { return common.Address{0xf1, 19: n} }
	w := &fillWorld{
		filler: named{"Filler", at(1)}, escrow: named{"Escrow", at(2)},
		hostileToken: named{"HostileToken", at(4)}, recipient: named{"HostileRecipient", at(5)},
		hostile: named{"HostileAccount", at(6)}, cold: key("cold"), hot: key("operator"), payer: addressOf(key("user")),
		attesters: []*ecdsa.PrivateKey{key("operator"), key("attester"), key("third attester")},
	}
	slices.SortFunc(w.attesters, func(a, b *ecdsa.PrivateKey) int { return addressOf(a).Cmp(addressOf(b)) })
	w.at = escrow.Place{ChainID: chainID, Escrow: w.escrow.at, Salt: [32]byte{0x5a}}
	pre := &world{t: t, abis: map[string]abi.ABI{}}
	pre.bind()
	made := pre.place(w.filler, chainID, pre.entryPoint.at, owner)
	made[0].Balance = big.NewInt(stock)
	// As a genesis does it: hot key and caps, without the owner.
	slot := func(key common.Address, mapping byte) common.Hash {
		return crypto.Keccak256Hash(common.LeftPadBytes(key[:], 32), common.LeftPadBytes([]byte{mapping}, 32))
	}
	made[0].Storage[slot(addressOf(w.hot), 2)] = common.Hash{31: 1}
	limit := new(big.Int).Lsh(big.NewInt(refill), 128)
	limit.Add(limit, big.NewInt(capacity))
	for _, token := range []common.Address{native(), pre.token.at, w.hostileToken.at} {
		made[0].Storage[slot(token, 4)] = common.BigToHash(limit)
	}
	made = append(made, pre.place(w.escrow, chainID, w.filler.at, w.addresses(), big.NewInt(2), w.at.Salt)...)
	for _, c := range []named{w.hostileToken, w.recipient, w.hostile} {
		made = append(made, pre.placeHostile(c)...)
	}
	w.world = newWorld(t, made...)
	maps.Copy(w.abis, pre.abis)
	w.paymaster = w.filler
	w.give(addressOf(w.cold), 0, ether)
	w.send(w.treasury, w.token, 0, "transfer", w.filler.at, big.NewInt(stock))
	w.send(w.relayer, w.hostileToken, 0, "mint", w.filler.at, big.NewInt(stock))
	return w
}

// placeHostile runs a constructor of assets/contracts/hostile.
func (w *world) placeHostile(c named) []evm.Account {
	w.t.Helper()
	raw, err := os.ReadFile("../../../../assets/contracts/hostile/" + c.name + ".json")
	w.check(err)
	var a struct {
		ABI      abi.ABI       `json:"abi"`
		Bytecode hexutil.Bytes `json:"bytecode"`
	}
	w.check(json.Unmarshal(raw, &a))
	w.abis[c.name] = a.ABI
	out, err := evm.Predeploy(a.Bytecode, c.at, chainID)
	w.check(err)
	return out
}

func (w *fillWorld) addresses() (out []common.Address) {
	for _, k := range w.attesters {
		out = append(out, addressOf(k))
	}
	return out
}

// ---- operations ----

// ready makes an operation one that the filler takes, as the service does it.
func (w *fillWorld) ready(a owned, u op.UserOp) op.UserOp {
	w.t.Helper()
	u.PaymasterPostOpGasLimit = big.NewInt(filler.PostOpGas)
	p, err := u.Pack()
	w.check(err)
	window := op.PaymasterWindow{ValidUntil: w.now + 600}
	digest := op.PaymasterHash(p, window, big.NewInt(chainID), w.filler.at)
	u.PaymasterData = op.EncodePaymasterData(window, signDigest(w.operator, op.EIP191(digest)))
	return a.signed(u)
}

func (w *fillWorld) op(a owned, lane uint16, calls ...op.Call) op.UserOp {
	w.t.Helper()
	return w.ready(a, w.unsigned(a, w.lane(a, lane), calls...))
}

// hostileOp is the next operation of the hostile account.
func (w *fillWorld) hostileOp() op.UserOp {
	w.t.Helper()
	a := owned{at: w.hostile.at, sign: func(op.UserOp) []byte { return nil }}
	u := w.unsigned(a, op.Nonce{}, op.Call{To: w.hostile.at, Value: new(big.Int)})
	u.CallData = w.pack(w.hostile, "work")
	return w.ready(a, u)
}

// quoteID spells a small number so that quoteID(1) is [32]byte{1}.
func quoteID(quote uint32) (id [32]byte) {
	binary.LittleEndian.PutUint32(id[:], quote)
	return id
}

// ---- terms, fills, attestations ----

func minimum(token, to common.Address, amount int64) escrow.Minimum {
	return escrow.Minimum{Token: escrow.Padded(token), To: escrow.Padded(to), Amount: big.NewInt(amount)}
}

// terms hold for ten minutes on this chain.
func (w *fillWorld) terms(minimums []escrow.Minimum, ops ...op.UserOp) escrow.Terms {
	w.t.Helper()
	t := escrow.Terms{TargetChain: chainID, FillDeadline: w.now + 600, Minimums: minimums}
	for _, u := range ops {
		t.Operations = append(t.Operations, w.opHash(u))
	}
	return t
}

func (w *fillWorld) tryFill(from *ecdsa.PrivateKey, quote uint32, t escrow.Terms, pays []filler.Pay,
	ops ...op.UserOp) chain.Receipt {
	w.t.Helper()
	data, err := filler.FillCalldata(quoteID(quote), w.payer, t, pays, ops...)
	w.check(err)
	return w.transact(chain.Tx{From: signers.Local(from), To: w.filler.at, Data: data})
}

func (w *fillWorld) paysOf(t escrow.Terms) []filler.Pay {
	w.t.Helper()
	pays, ok := filler.Pays(t.Minimums)
	if !ok {
		w.t.Fatalf("%+v cannot be paid", t)
	}
	return pays
}

// fills pays exactly the minimums, and looks for the one log that says so.
func (w *fillWorld) fills(quote uint32, t escrow.Terms, ops ...op.UserOp) chain.Receipt {
	w.t.Helper()
	r := w.tryFill(w.hot, quote, t, w.paysOf(t), ops...)
	if !r.Success {
		w.t.Fatalf("the fill failed: %s", w.decode(r.Revert))
	}
	var found int
	for _, l := range r.Logs {
		id, terms, ok := filler.DecodeFilled(l.Topics, l.Data)
		if !ok || l.Address != w.filler.at {
			continue
		}
		found++
		if id != quoteID(quote) || terms != t.Hash(w.filler.at, id, w.payer) {
			w.t.Fatalf("filled %x %s", id, terms)
		}
	}
	if found != 1 {
		w.t.Fatalf("%d logs of the fill", found)
	}
	return r
}

// refuses fails the test unless the transaction failed for this reason.
func (w *fillWorld) refuses(want string, r chain.Receipt) {
	w.t.Helper()
	if got := w.decode(r.Revert); r.Success || !strings.HasPrefix(got, want) {
		w.t.Fatalf("success %t, reason %s, want %s", r.Success, got, want)
	}
}

func (w *fillWorld) tryRun(from *ecdsa.PrivateKey, deadline uint64, ops ...op.UserOp) chain.Receipt {
	w.t.Helper()
	data, err := filler.RunCalldata(deadline, ops...)
	w.check(err)
	return w.transact(chain.Tx{From: signers.Local(from), To: w.filler.at, Data: data})
}

func (w *fillWorld) isUsed(id [32]byte) bool {
	w.t.Helper()
	return get[bool](w.world, w.filler, "used", id)
}

// States of a deposit.
const (
	held     = 1
	released = 2
	refunded = 3
)

type heldDeposit struct {
	token    common.Address
	deadline uint64
	state    uint8
	amount   int64
	terms    common.Hash
}

func native() common.Address { return common.Address{} }

func (w *fillWorld) heldBy(quote uint32, depositor common.Address) heldDeposit {
	w.t.Helper()
	v := w.read(w.escrow, "deposits", quoteID(quote), depositor)
	return heldDeposit{v[0].(common.Address), v[1].(uint64), v[2].(uint8), v[3].(*big.Int).Int64(), v[4].([32]byte)}
}

func (w *fillWorld) tryDeposit(from *ecdsa.PrivateKey, value int64, d escrow.Deposit, t escrow.Terms) chain.Receipt {
	w.t.Helper()
	return w.transact(chain.Tx{From: signers.Local(from), To: w.escrow.at, Value: big.NewInt(value),
		Data: escrow.DepositCalldata(d, t)})
}

// deposits pays an amount of a token, or wei, under the terms, refundable a minute after their end.
func (w *fillWorld) deposits(from *ecdsa.PrivateKey, quote uint32, token common.Address, amount int64, t escrow.Terms) {
	w.t.Helper()
	value := int64(0)
	if token == native() {
		value = amount
	}
	d := escrow.Deposit{QuoteID: quoteID(quote), Token: token, Amount: big.NewInt(amount),
		RefundDeadline: t.FillDeadline + 60}
	if r := w.tryDeposit(from, value, d, t); !r.Success {
		w.t.Fatalf("the deposit failed: %s", w.decode(r.Revert))
	}
}

// allows gives a user coins and tokens, and lets the escrow take them.
func (w *fillWorld) allows(user *ecdsa.PrivateKey, tokens int64) {
	w.t.Helper()
	w.give(addressOf(user), tokens, ether)
	w.send(user, w.token, 0, "approve", w.escrow.at, new(big.Int).Lsh(big.NewInt(1), 200))
}

func (w *fillWorld) attest(p escrow.Place, quote uint32, depositor common.Address, terms common.Hash,
	signers ...*ecdsa.PrivateKey) (out [][]byte) {
	for _, k := range signers {
		out = append(out, signDigest(k, p.Attestation(quoteID(quote), depositor, terms).Digest()))
	}
	return out
}

func (w *fillWorld) tryRelease(from *ecdsa.PrivateKey, quote uint32, depositor common.Address,
	signatures [][]byte) chain.Receipt {
	w.t.Helper()
	return w.transact(chain.Tx{From: signers.Local(from), To: w.escrow.at,
		Data: escrow.ReleaseCalldata(quoteID(quote), depositor, signatures)})
}

// releases sends the first two attesters' signatures, from anybody.
func (w *fillWorld) releases(quote uint32, depositor common.Address) {
	w.t.Helper()
	terms := w.heldBy(quote, depositor).terms
	r := w.tryRelease(w.relayer, quote, depositor, w.attest(w.at, quote, depositor, terms, w.attesters[:2]...))
	if !r.Success {
		w.t.Fatalf("the release failed: %s", w.decode(r.Revert))
	}
}

func (w *fillWorld) tryRefund(from *ecdsa.PrivateKey, quote uint32, depositor common.Address) chain.Receipt {
	w.t.Helper()
	return w.transact(chain.Tx{From: signers.Local(from), To: w.escrow.at,
		Data: escrow.RefundCalldata(quoteID(quote), depositor)})
}

// behaves sets what a hostile contract does when it is touched.
func (w *fillWorld) behaves(c named, mode uint8, target common.Address, data []byte) {
	w.t.Helper()
	w.send(w.relayer, c, 0, "set", mode, target, data)
}

// Modes of a hostile contract.
const (
	peaceful = iota
	callAndGoOn
	callOrFail
	reverts
	burnsGas
	floods
)

// answered is what a hostile contract's last call was told, decoded.
func (w *fillWorld) answered(c named) string {
	w.t.Helper()
	if get[*big.Int](w.world, c, "tries").Sign() == 0 {
		w.t.Fatal("it never called")
	}
	return w.decode(bytes.Clone(get[[]byte](w.world, c, "answer")))
}

// creation is a contract's creation code with its arguments.
func (w *fillWorld) creation(c named, args ...any) []byte {
	w.t.Helper()
	a, err := assets.Contract(c.name)
	w.check(err)
	packed, err := w.abis[c.name].Pack("", args...)
	w.check(err)
	return append(bytes.Clone(a.Bytecode), packed...)
}

// constructs reports whether a constructor accepts its arguments.
func (w *fillWorld) constructs(c named, args ...any) bool {
	w.t.Helper()
	_, err := evm.Predeploy(w.creation(c, args...), c.at, chainID)
	return err == nil
}
