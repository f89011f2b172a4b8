package liar

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/devnet"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/signers"
)

// loot is every signature of the person that the attacker ever saw.
type loot struct {
	evm       []heldOp
	messages  []heldMessage
	approvals []approval
	seen      map[string]bool
}

// heldOp is a signed user operation.
type heldOp struct {
	chainID uint64
	owner   api.Account
	op      op.UserOp
	auth    *op.SignedAuthorization
}

// heldMessage is a Solana message with its owner's signature.
type heldMessage struct {
	message solmsg.Message
	owner   solmsg.Key
	sig     [64]byte
}

// approval is a right that calls of the person gave to an address whose key the attacker has.
type approval struct {
	chainID        uint64
	token, spender common.Address
}

// request is what bodies with signatures have in common, in both versions of the interface.
type request struct {
	ID       string               `json:"id"`
	Account  *api.Account         `json:"account"`
	Accounts []api.Account        `json:"accounts"`
	One      *api.ChainOperation  `json:"chainOperation"`
	Many     []api.ChainOperation `json:"originChainsOperations"`
	Target   *api.ChainOperation  `json:"destinationChainOperation"`
}

func (r request) who() []api.Account {
	if r.Account != nil {
		return append([]api.Account{*r.Account}, r.Accounts...)
	}
	return r.Accounts
}

// take keeps the signatures of a request's body.
func (l *loot) take(body []byte) {
	var r request
	if json.Unmarshal(body, &r) != nil {
		return
	}
	list := r.Many
	for _, o := range []*api.ChainOperation{r.One, r.Target} {
		if o != nil {
			list = append(list, *o)
		}
	}
	for _, o := range list {
		if o.IsSolana() {
			l.takeMessage(r, o)
		} else {
			l.takeOp(r, o)
		}
	}
}

func (l *loot) fresh(key string) bool {
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	was := l.seen[key]
	l.seen[key] = true
	return !was
}

func (l *loot) takeOp(r request, o api.ChainOperation) {
	if o.UserOp == nil || o.TypedDataToSign == nil || len(o.UserOp.Signature) < 2+2*65 {
		return
	}
	signed, err := op.FromWire(*o.UserOp)
	i := slices.IndexFunc(r.who(), func(a api.Account) bool {
		return strings.EqualFold(a.AccountAddress, o.UserOp.Sender)
	})
	if err != nil || i < 0 || !l.fresh(o.UserOp.Sender+o.UserOp.Nonce+o.UserOp.CallData+o.UserOp.Signature) {
		return
	}
	h := heldOp{chainID: o.TypedDataToSign.Domain.ChainID, owner: r.who()[i], op: signed}
	if h.owner.Type == "" {
		h.owner.Type = api.AccountRoleBased
	}
	if o.Delegation != nil && o.Delegation.Signature != nil {
		if a, err := op.AuthorizationFromWire(*o.Delegation.Signature); err == nil {
			h.auth = &a
		}
	}
	l.evm = append(l.evm, h)
	calls, err := op.DecodeExecute(signed.CallData)
	if err != nil {
		return
	}
	for _, c := range calls {
		if spender, v, ok := erc20.DecodeApprove(c.Data); ok && v.Sign() > 0 {
			l.approvals = append(l.approvals, approval{h.chainID, c.To, spender})
		}
	}
}

func (l *loot) takeMessage(r request, o api.ChainOperation) {
	sig, err := caip.ParseSolanaSignature(o.Signature)
	if err != nil || !l.fresh(o.Signature) {
		return
	}
	m, err := solmsg.ParseBase64(o.DataToSign)
	if err != nil {
		return
	}
	for _, a := range r.who() {
		owner, err := solmsg.ParseKey(a.AccountAddress)
		if err == nil && !a.IsEVM() && m.Verify(owner, sig) {
			l.messages = append(l.messages, heldMessage{m, owner, sig})
		}
	}
}

// cashOut tries everything that the attacker holds, in random order and with nothing but the chains' rules in the way:
// each signed operation, each delegation, each message, each deposit in escrow for itself, each right to take tokens.
// Failures are no errors: the chain's no is an answer.
func (l *loot) cashOut(in *devnet.Installation, now uint64, d dice) {
	var tries []func()
	for _, h := range l.evm {
		tries = append(tries, func() { h.submit(in, now, d) }, func() { h.release(in, now) })
	}
	for _, m := range l.messages {
		tries = append(tries, func() { m.land(in, now) })
	}
	for range 2 { // a deposit of this round can be released in the next, and an approval used
		d.Shuffle(len(tries), func(i, j int) { tries[i], tries[j] = tries[j], tries[i] })
		for _, try := range tries {
			try()
		}
	}
	for _, a := range l.approvals {
		for _, h := range l.evm {
			a.use(in, h.op.Sender, now)
		}
	}
}

// submit puts the operation on its chain; now and then the delegation alone.
func (h heldOp) submit(in *devnet.Installation, now uint64, d dice) {
	c := in.Chains[h.chainID]
	who, err := smartaccount.Open(in.Pins, h.owner)
	if c == nil || err != nil {
		return
	}
	signed, err := who.CoSign(context.Background(), h.op, h.chainID, in.CoSigner)
	if err != nil {
		return
	}
	data, err := filler.RunCalldata(now, signed)
	if err != nil {
		return
	}
	tx := chain.Tx{From: in.Operator, To: in.Pins.Paymaster, Data: data}
	if h.auth != nil {
		tx.Authorizations = []op.SignedAuthorization{*h.auth}
		if d.chance(20) {
			alone := tx
			alone.To, alone.Data, alone.Gas = in.Faucet.Address(), nil, 200_000
			_, _ = c.Seal(context.Background(), chain.SealRequest{Time: now, Txs: []chain.Tx{alone}})
		}
	}
	sealAll(c, now, tx)
}

// sealAll puts transactions into the next block of a chain, or none of them.
func sealAll(c chain.Chain, now uint64, txs ...chain.Tx) {
	_, _ = c.Seal(context.Background(), chain.SealRequest{Time: now, Txs: txs, Accept: chain.AllSucceed})
}

// release takes the deposit that the operation made out of the escrow. Nobody can name the thief there, but the
// attacker has the one attester's key and the filler's owner: it attests a fill that never was, and takes what is
// released.
func (h heldOp) release(in *devnet.Installation, now uint64) {
	c := in.Chains[h.chainID]
	calls, err := op.DecodeExecute(h.op.CallData)
	if err != nil || c == nil {
		return
	}
	d, terms, ok := escrow.DecodeDeposit(calls[len(calls)-1].Data)
	if !ok {
		return
	}
	place := escrow.Place{ChainID: h.chainID, Escrow: in.Pins.Escrow, Salt: in.EscrowSalt}
	claim := place.Attestation(d.QuoteID, h.op.Sender, terms.Hash(in.Pins.Paymaster, d.QuoteID, h.op.Sender))
	sig, err := in.Attester.SignAttestation(context.Background(), claim)
	if err != nil {
		return
	}
	out := crypto.Keccak256([]byte("withdraw(address,address,uint256)"))[:4]
	out = append(out, common.LeftPadBytes(d.Token[:], 32)...)
	out = append(append(out, common.LeftPadBytes(thief().Bytes(), 32)...), common.BigToHash(d.Amount).Bytes()...)
	sealAll(c, now,
		chain.Tx{From: in.Operator, To: in.Pins.Escrow, Gas: 300_000,
			Data: escrow.ReleaseCalldata(d.QuoteID, h.op.Sender, [][]byte{sig})},
		chain.Tx{From: in.Treasury, To: in.Pins.Paymaster, Data: out, Gas: 200_000})
}

// land puts the message on the ledger.
func (m heldMessage) land(in *devnet.Installation, now uint64) {
	tx, err := solana.Sign(context.Background(), m.message, in.Sponsor)
	if err == nil && tx.SetSignature(m.owner, m.sig) == nil {
		_, _ = in.Solana.Seal(context.Background(), solana.SealRequest{Time: now, Txs: []solana.Tx{tx}})
	}
}

// use takes as much as the approval and the balance allow.
func (a approval) use(in *devnet.Installation, from common.Address, now uint64) {
	c := in.Chains[a.chainID]
	i := slices.IndexFunc(friends(), func(f friend) bool { return f.address == a.spender })
	if c == nil || i < 0 {
		return
	}
	st, err := c.State(context.Background(), now)
	if err != nil {
		return
	}
	may, ok := erc20.DecodeUint(st.Call(chain.Message{To: a.token, Data: erc20.Allowance(from, a.spender)}).Return)
	has, okHas := erc20.DecodeUint(st.Call(chain.Message{To: a.token, Data: erc20.BalanceOf(from)}).Return)
	st.Close()
	if !ok || !okHas || may.Sign() == 0 || has.Sign() == 0 {
		return
	}
	if may.Cmp(has) > 0 {
		may = has
	}
	fuel := chain.Tx{From: in.Operator, To: a.spender, Value: big.NewInt(1e15), Gas: 100_000}
	pull := chain.Tx{From: signers.Local(friends()[i].key), To: a.token, Data: erc20.TransferFrom(from, thief(), may),
		Gas: 200_000}
	sealAll(c, now, fuel, pull)
}
