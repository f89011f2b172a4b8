package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/rpcpool"
	"coffer/api/service/chain/evm"
	"coffer/api/text"
)

func deployer() common.Address { return evm.DeterministicDeployer() }

func human(wei *big.Int) string { return amount.Trim(amount.Plain(wei, 18)) }

// message is a call as eth_call takes it.
type message struct {
	To   *common.Address `json:"to,omitempty"`
	Data hexutil.Bytes   `json:"data"`
}

// override gives an address other code for one call.
type override struct {
	Code hexutil.Bytes `json:"code"`
}

// Programs that answer 1: as init code, and as the code of an account.
var (
	usesTransient = common.FromHex("0x600160005d60005c60005260206000f3")
	usesMcopy     = common.FromHex("0x6001600052602060006020" + "5e60206020f3")
	answersOne    = common.FromHex("0x600160005260206000f3")
)

// one reports whether an answer is the number 1.
func one(answer []byte) bool {
	return len(answer) == 32 && new(big.Int).SetBytes(answer).Cmp(common.Big1) == 0
}

// features tries the instructions that the contracts are made of, and EIP-7702.
func (n *node) features(ctx context.Context, r *Report, head block) {
	for _, f := range []struct {
		name, off string
		program   []byte
		state     State
	}{
		{"MCOPY", off["Window"], usesMcopy, Missing},
		{"transient storage", "no operator can pay across chains here", usesTransient, Without},
	} {
		var answer hexutil.Bytes
		err := n.pool.Call(ctx, &answer, "eth_call", message{Data: f.program}, "latest")
		var said *rpcpool.Error
		switch {
		case err == nil && one(answer):
			r.say(Good, f.name, "", "the chain has it")
		case err == nil || errors.As(err, &said):
			r.say(f.state, f.name, f.off, "the chain does not have it (%s)", because(err, "another answer"))
		default:
			r.say(Unknown, f.name, "", "%s", err)
		}
	}
	n.delegation(ctx, r, head)
}

// delegation tries EIP-7702: an account that points to another one runs its code.
func (n *node) delegation(ctx context.Context, r *Report, head block) {
	const name = "EIP-7702"
	from, to := common.Address{0x77, 0x02}, common.Address{0x77, 0x03}
	var answer hexutil.Bytes
	err := n.pool.Call(ctx, &answer, "eth_call", message{To: &from}, "latest", map[common.Address]override{
		from: {Code: append(common.FromHex("0xef0100"), to[:]...)}, to: {Code: answersOne}})
	var said *rpcpool.Error
	switch {
	case err == nil && one(answer):
		r.say(Good, name, "", "the chain has it")
	case head.RequestsHash != nil:
		r.say(Good, name, "", "blocks are of a fork that has it; a call could not try it")
	case errors.As(err, &said) && !absent(err) && strings.Contains(strings.ToLower(said.Message), "opcode"):
		r.say(Without, name, "no accounts "+api.AccountKernelV33, "the chain does not have it (%s)", because(err, ""))
	default:
		r.say(Unknown, name, "accounts "+api.AccountKernelV33+" may not work",
			"the node takes no such call (%s)", because(err, "another answer"))
	}
}

// because is an error in few words: those of the node, if it answered one.
func because(err error, otherwise string) string {
	var said *rpcpool.Error
	switch {
	case err == nil:
		return otherwise
	case errors.As(err, &said):
		return text.Clean(said.Message, 200)
	case errors.Is(err, rpcpool.ErrNotFound):
		return rpcpool.ErrNotFound.Error()
	}
	return text.Clean(err.Error(), 200)
}

// absent reports that a node does not offer a method.
func absent(err error) bool {
	var e *rpcpool.Error
	if !errors.As(err, &e) {
		return false
	}
	m := strings.ToLower(e.Message)
	return e.Code == -32601 || strings.Contains(m, "not supported") || strings.Contains(m, "does not exist") ||
		strings.Contains(m, "not available") || strings.Contains(m, "unsupported method")
}

// methods tries what makes things faster or clearer.
func (n *node) methods(ctx context.Context, r *Report) {
	call := map[string]any{"from": common.Address{}, "to": deployer(), "data": "0x"}
	for _, m := range []struct {
		name, off string
		param     any
	}{
		{"eth_createAccessList", "simulations take more round trips", call},
		{"eth_simulateV1", "simulations run in this program only", map[string]any{
			"blockStateCalls": []any{map[string]any{"calls": []any{map[string]any{
				"from": common.Address{}, "to": common.Address{1}}}}}}},
	} {
		err := n.pool.Call(ctx, nil, m.name, m.param, "latest")
		var said *rpcpool.Error
		switch {
		case err == nil, errors.As(err, &said) && said.Reverted():
			r.say(Good, m.name, "", "the node offers it")
		case absent(err):
			r.say(Without, m.name, m.off, "the node does not offer it")
		default:
			r.say(Unknown, m.name, "", "%s", because(err, ""))
		}
	}
}

// archive finds how far back the node answers questions about state.
func (n *node) archive(ctx context.Context, r *Report, head block) {
	var depths []uint64
	for d := uint64(100); d < uint64(head.Number); d *= 10 {
		depths = append(depths, d)
	}
	depths = append(depths, uint64(head.Number))
	calls := make([]rpcpool.Call, len(depths))
	for i, d := range depths {
		calls[i] = rpcpool.Call{Method: "eth_getBalance", Result: new(hexutil.Big),
			Params: []any{common.Address{}, head.Number - hexutil.Uint64(d)}}
	}
	if err := n.pool.Batch(ctx, calls); err != nil {
		r.say(Unknown, "past states", "", "%s", err)
		return
	}
	found := "of fewer than 100 blocks"
	for i, c := range calls {
		switch {
		case c.Err == nil && i == len(calls)-1:
			found = "of all blocks"
		case c.Err == nil:
			found = fmt.Sprintf("of the last %d blocks at least", depths[i])
		}
	}
	r.say(Good, "past states", "", "%s", found)
}

// Selectors of what is read of tokens and feeds.
var (
	selDecimals    = common.FromHex("0x313ce567")
	selSymbol      = common.FromHex("0x95d89b41")
	selLatestRound = common.FromHex("0xfeaf968c")
)

// ask makes one call for each pair of contract and data.
func (n *node) ask(ctx context.Context, to []common.Address, data ...[]byte) ([][]rpcpool.Call, error) {
	var flat []rpcpool.Call
	for _, at := range to {
		for _, d := range data {
			flat = append(flat, rpcpool.Call{Method: "eth_call", Params: []any{message{&at, d}, "latest"},
				Result: new(hexutil.Bytes)})
		}
	}
	err := n.pool.Batch(ctx, flat)
	var out [][]rpcpool.Call
	for i := range to {
		out = append(out, flat[i*len(data):(i+1)*len(data)])
	}
	return out, err
}

func answer(c rpcpool.Call) []byte { return *c.Result.(*hexutil.Bytes) }

// small reads a number that fits into 63 bits.
func small(c rpcpool.Call) (int64, bool) {
	if c.Err != nil || len(answer(c)) != 32 {
		return 0, false
	}
	v := new(big.Int).SetBytes(answer(c))
	return v.Int64(), v.IsInt64()
}

// tokens compares decimals and symbol of every token.
func (n *node) tokens(ctx context.Context, r *Report) {
	to := make([]common.Address, len(n.Tokens))
	for i, t := range n.Tokens {
		to[i] = t.Address
	}
	answers, err := n.ask(ctx, to, selDecimals, selSymbol)
	if err != nil {
		r.say(Missing, "tokens", "", "%s", err)
		return
	}
	good := 0
	var powers []string
	for i, t := range n.Tokens {
		what, where := "token "+t.Symbol, n.file.Where(t.Line)
		decimals, ok := small(answers[i][0])
		symbol := readText(answers[i][1])
		switch {
		case !ok:
			r.say(Missing, what, "", "%s: no token answers at %s (%s)", where, t.Address.Hex(),
				because(answers[i][0].Err, "no number of decimals"))
		case decimals != int64(t.Decimals):
			r.say(Missing, what, "", "%s: it has %d decimals, the file says %d", where, decimals, t.Decimals)
		case symbol != t.Symbol:
			r.say(Good, what, "", "%s: it calls itself %q", where, symbol)
		default:
			good++
		}
		if len(t.Powers) > 0 {
			powers = append(powers, t.Symbol+": "+strings.Join(t.Powers, ", "))
		}
	}
	if good > 0 {
		r.say(Good, "tokens", "", "%d of %d have the decimals and the symbol of the file", good, len(n.Tokens))
	}
	if len(powers) > 0 {
		r.say(Good, "powers of issuers", "", "%s", strings.Join(powers, "; "))
	}
}

// readText reads a string, or 32 bytes as old tokens have them, and cleans it.
func readText(c rpcpool.Call) string {
	if c.Err != nil {
		return ""
	}
	b := answer(c)
	if len(b) >= 64 && new(big.Int).SetBytes(b[:32]).Cmp(big.NewInt(32)) == 0 {
		size := new(big.Int).SetBytes(b[32:64])
		if !size.IsUint64() || size.Uint64() > uint64(len(b)-64) {
			return ""
		}
		b = b[64 : 64+size.Uint64()]
	} else {
		b = bytes.TrimRight(b, "\x00")
	}
	if !utf8.Valid(b) {
		return ""
	}
	return text.Clean(string(b), 64)
}

// feeds tries the price feeds.
func (n *node) feeds(ctx context.Context, r *Report, head block) {
	to := make([]common.Address, len(n.Feeds))
	for i, f := range n.Feeds {
		to[i] = f.Address
	}
	answers, err := n.ask(ctx, to, selDecimals, selLatestRound)
	if err != nil {
		r.say(Without, "feeds", "nothing has a price", "%s", err)
		return
	}
	good := 0
	for i, f := range n.Feeds {
		what, where := "feed of "+string(f.Aggregate), n.file.Where(f.Line)
		none := fmt.Sprintf("%s has no price from here", f.Aggregate)
		decimals, ok := small(answers[i][0])
		round := answer(answers[i][1])
		switch {
		case !ok || answers[i][1].Err != nil || len(round) != 160:
			r.say(Without, what, none, "%s: no feed answers at %s", where, f.Address.Hex())
			continue
		case decimals != int64(f.Decimals):
			r.say(Missing, what, none, "%s: it has %d decimals, the file says %d", where, decimals, f.Decimals)
			continue
		}
		price, at := new(big.Int).SetBytes(round[32:64]), new(big.Int).SetBytes(round[96:128])
		age := time.Duration(int64(head.Time)-at.Int64()) * time.Second
		switch {
		case price.Sign() == 0 || price.BitLen() > 128 || !at.IsInt64():
			r.say(Without, what, none, "%s: it answers no price", where)
		case age > f.Heartbeat:
			r.say(Without, what, none, "%s: its answer is %s old, more than the heartbeat %s", where, age, f.Heartbeat)
		default:
			good++
		}
	}
	if good > 0 {
		r.say(Good, "feeds", "", "%d of %d are fresh", good, len(n.Feeds))
	}
}
