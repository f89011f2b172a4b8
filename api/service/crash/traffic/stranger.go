package traffic

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/erc20"
)

// Stranger is an EOA that sends transactions of every type to one EVM chain: coins and tokens to its sink and to other
// people, deployments, authorizations of another key, failures, and two at a time of which the later nonce comes first.
type Stranger struct {
	outside
	token      caip.Asset
	nonce      uint64
	authority  *ecdsa.PrivateKey
	authorized uint64
	open       []*sending // in the order in which they are sent
	claimed    bool       // every one was answered
}

// StrangerKind is the kind of person that a Stranger is: its address is that of its key.
const StrangerKind = api.AccountKernelV33

// sending is a transaction of which it is not known yet what came of it.
type sending struct {
	sort     string
	tx       *types.Transaction
	fails    bool
	moves    []Move          // without the fee
	contract *common.Address // that it deploys
}

// NewStranger makes one of a person with some of a coin, on the chain where that is most. The error is ErrPoor when
// there is none.
func NewStranger(p *Person, have []Holding) (*Stranger, error) {
	all := coins(have)
	if len(all) == 0 {
		return nil, ErrPoor
	}
	chain, _ := all[0].Asset.Chain.EVMID()
	s := &Stranger{outside: outside{Person: p, chain: chain}}
	for _, h := range have {
		_, token := h.Asset.Token()
		if token && h.Asset.Chain == all[0].Asset.Chain && h.Amount.Cmp(big.NewInt(1e6)) > 0 {
			s.token = h.Asset
		}
	}
	if s.token == (caip.Asset{}) {
		return nil, ErrPoor
	}
	var err error
	s.authority, err = crypto.ToECDSA(crypto.Keccak256([]byte("coffer traffic authority"), p.Address[:]))
	return s, err
}

// sorts are what a stranger sends, one after another.
const sorts = 8

// Idle implements Outsider.
func (s *Stranger) Idle() bool { return s.open == nil && s.turn >= sorts }

var (
	deploysOne = hexutil.MustDecode("0x60016000f3") // a contract of one zero byte
	reverts    = hexutil.MustDecode("0x60006000fd")
)

// prepare makes what is sent next.
func (s *Stranger) prepare(ctx context.Context, e Endpoint, to *Person) error {
	var price hexutil.Big
	if err := e.Call(ctx, &price, "eth_gasPrice"); err != nil {
		return err
	}
	most, tip := new(big.Int).Lsh(price.ToInt(), 1), big.NewInt(1_000_000)
	token, _ := s.token.Token()
	sink, v := s.sink(), big.NewInt(int64(1000+s.turn))
	dynamic := func(nonce uint64, to *common.Address, value *big.Int, data []byte) types.TxData {
		return &types.DynamicFeeTx{Nonce: nonce, GasTipCap: tip, GasFeeCap: most, Gas: 120_000, To: to, Value: value,
			Data: data}
	}
	coin := caip.Native(s.chain)
	other := common.HexToAddress(to.Name(coin.Chain))
	pays := func(asset caip.Asset, to common.Address) []Move {
		return moved(s.Name(coin.Chain), strings.ToLower(to.Hex()), asset, v)
	}
	var txs []types.TxData
	one := &sending{}
	all := []*sending{one}
	switch s.turn % sorts {
	case 0:
		one.sort, one.moves = "type 0", pays(coin, sink)
		txs = append(txs, &types.LegacyTx{Nonce: s.nonce, GasPrice: most, Gas: 21_000, To: &sink, Value: v})
	case 1:
		one.sort, one.moves = "type 1", pays(s.token, sink)
		txs = append(txs, &types.AccessListTx{Nonce: s.nonce, GasPrice: most, Gas: 120_000, To: &token,
			Data: erc20.Transfer(sink, v), AccessList: types.AccessList{{Address: token}}})
	case 2:
		one.sort, one.moves = "type 2", pays(coin, other)
		txs = append(txs, dynamic(s.nonce, &other, v, nil))
	case 3:
		auth, err := types.SignSetCode(s.authority, types.SetCodeAuthorization{
			ChainID: *uint256.NewInt(s.chain), Address: token, Nonce: s.authorized})
		if err != nil {
			return err
		}
		one.sort, one.moves = "type 4", pays(coin, sink)
		txs = append(txs, &types.SetCodeTx{Nonce: s.nonce, GasTipCap: uint256.MustFromBig(tip),
			GasFeeCap: uint256.MustFromBig(most), Gas: 120_000, To: sink, Value: uint256.MustFromBig(v),
			AuthList: []types.SetCodeAuthorization{auth}})
	case 4:
		at := crypto.CreateAddress(s.Address, s.nonce)
		one.sort, one.contract = "deployments", &at
		txs = append(txs, dynamic(s.nonce, nil, nil, deploysOne))
	case 5:
		one.sort, one.fails = "failures", true
		txs = append(txs, dynamic(s.nonce, nil, v, reverts))
	case 6:
		one.sort, one.moves = "gaps", pays(coin, sink)
		all = append(all, &sending{sort: "gaps", moves: pays(coin, sink)})
		txs = append(txs, dynamic(s.nonce+1, &sink, v, nil), dynamic(s.nonce, &sink, v, nil))
	case 7:
		one.sort, one.moves = "tokens to people", pays(s.token, other)
		txs = append(txs, dynamic(s.nonce, &token, nil, erc20.Transfer(other, v)))
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(s.chain))
	for i, data := range txs {
		tx, err := types.SignNewTx(s.Key, signer, data)
		if err != nil {
			return err
		}
		all[i].tx = tx
	}
	s.open, s.claimed = all, false
	return nil
}

// Step implements Outsider.
func (s *Stranger) Step(ctx context.Context, nodes Nodes, to *Person) ([]Move, error) {
	e, again := nodes[s.chain], s.open != nil
	if !again {
		if err := s.prepare(ctx, e, to); err != nil {
			return nil, err
		}
	}
	for i, t := range s.open {
		if again {
			var there json.RawMessage
			if err := e.Call(ctx, &there, "eth_getTransactionReceipt", t.tx.Hash()); err != nil {
				return nil, err
			}
			if !null(there) {
				continue
			}
			// one that waited for an earlier nonce waits in memory, and a block of its own may have been due
			if waited := i < len(s.open)-1; s.claimed && !waited {
				return nil, broken("transaction %s was answered and is lost", t.tx.Hash())
			}
		}
		raw, err := t.tx.MarshalBinary()
		if err != nil {
			return nil, err
		}
		var hash common.Hash
		err = e.Call(ctx, &hash, "eth_sendRawTransaction", hexutil.Bytes(raw))
		if no, refused := errors.AsType[*Refusal](err); again && refused && no.Message == "already known" {
			continue // it waits there
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.sort, err)
		}
		if hash != t.tx.Hash() {
			return nil, broken("transaction %s was answered with %s", t.tx.Hash(), hash)
		}
	}
	s.claimed = true
	return s.reap(ctx, e)
}

// reap reads the receipts of what was sent.
func (s *Stranger) reap(ctx context.Context, e Endpoint) (moves []Move, err error) {
	answers := make([]json.RawMessage, len(s.open))
	for i, t := range s.open {
		for until := time.Now().Add(soon); ; time.Sleep(5 * time.Millisecond) {
			if err := e.Call(ctx, &answers[i], "eth_getTransactionReceipt", t.tx.Hash()); err != nil {
				return nil, err
			}
			if !null(answers[i]) {
				break
			}
			if len(s.open) == 1 || time.Now().After(until) { // alone it is sealed when it is answered
				return nil, broken("%s %s was answered and has no receipt", t.sort, t.tx.Hash())
			}
		}
	}
	for i, t := range s.open {
		did, err := s.cost(t, answers[i])
		if err != nil {
			return nil, err
		}
		moves = append(moves, did...)
	}
	for i, t := range s.open {
		s.note(t.sort, t.tx.Hash().Hex(), answers[i])
		if s.nonce++; t.tx.Type() == types.SetCodeTxType {
			s.authorized++
		}
	}
	s.open = nil
	s.turn++
	return moves, nil
}

// cost checks a receipt and returns what the transaction moved, with its fee.
func (s *Stranger) cost(t *sending, answer json.RawMessage) ([]Move, error) {
	var r struct {
		Status, GasUsed   hexutil.Uint64
		EffectiveGasPrice hexutil.Big
		ContractAddress   *common.Address
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, err
	}
	if failed := r.Status == 0; failed != t.fails ||
		t.contract != nil && (r.ContractAddress == nil || *r.ContractAddress != *t.contract) {
		return nil, broken("%s: %s", t.sort, answer)
	}
	fee := new(big.Int).Mul(r.EffectiveGasPrice.ToInt(), new(big.Int).SetUint64(uint64(r.GasUsed)))
	coin := caip.Native(s.chain)
	return append(t.moves, Move{s.Name(coin.Chain), coin, fee.Neg(fee)}), nil
}

// Recall implements Outsider: receipts are the same byte for byte, and nonces are as many as transactions.
func (s *Stranger) Recall(ctx context.Context, nodes Nodes, from int) (int, error) {
	e := nodes[s.chain]
	n, err := s.recall(ctx, e, from, "eth_getTransactionReceipt")
	if err != nil || s.open != nil {
		return n, err
	}
	for at, want := range map[common.Address]uint64{
		s.Address: s.nonce, crypto.PubkeyToAddress(s.authority.PublicKey): s.authorized,
	} {
		var got hexutil.Uint64
		if err := e.Call(ctx, &got, "eth_getTransactionCount", at, "latest"); err != nil {
			return 0, err
		}
		if uint64(got) != want {
			return 0, broken("the nonce of %s is %d after %d transactions", at, got, want)
		}
	}
	return n, nil
}
