package portfolio

import (
	"context"
	"math/big"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/erc20"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/text"
)

const (
	// MaxUnlisted bounds the tokens of one request that the catalogue does not have: each runs foreign code.
	MaxUnlisted = 20
	// readGas bounds one question to such a token, in gas units; tokens in use take 3 000 to 30 000.
	readGas = 100_000
	// maxSymbol bounds a symbol, in characters.
	maxSymbol = 32
	// maxDecimals is the largest power of ten that 2^256 base units can reach.
	maxDecimals = 77
)

// token is what a chain says of a token that the catalogue does not have. Anybody may have chosen the symbol.
type token struct {
	held     *big.Int // base units
	decimals int
	symbol   string // "" where there is none
}

// unlisted reads the tokens of a request that the catalogue does not have; they have no price. A place that holds no
// token is a validation failure.
func (p *Portfolio) unlisted(ctx context.Context, q Query) (map[caip.Asset]api.AssetBalance, error) {
	out := map[caip.Asset]api.AssetBalance{}
	for _, asked := range q.Assets {
		if !asked.Unlisted {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		read := p.erc20
		if asked.Asset.Chain.IsSolana() {
			read = p.mint
		}
		found, err := read(ctx, q, asked.Asset)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return nil, api.Invalid(asked.At, "a token: nothing there tells a balance and decimals",
				text.Named(asked.As))
		}
		out[asked.Asset] = api.AssetBalance{AssetType: asked.As, Balance: found.held.String(),
			FiatValue: api.Micro(amount.Value(found.held, found.decimals, nil)), Decimals: &found.decimals,
			Symbol: found.symbol}
	}
	return out, nil
}

// mint reads an SPL token; nil when there is none. A mint has 82 bytes, the decimals at 44, at 45 whether it is one
// yet.
func (p *Portfolio) mint(ctx context.Context, q Query, a caip.Asset) (*token, error) {
	if p.Network.Solana == nil {
		return nil, nil
	}
	st, err := p.Network.Solana.State(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	key, _ := a.Mint()
	account, err := st.Account(solmsg.Key(key))
	if err != nil || account.Owner != solmsg.TokenProgram() || len(account.Data) != 82 || account.Data[45] != 1 {
		return nil, err
	}
	t := &token{held: new(big.Int), decimals: int(account.Data[44])}
	if owner, named := q.solanaKey(); named {
		held, _, err := st.Tokens(owner, solmsg.Key(key))
		if err != nil {
			return nil, err
		}
		t.held.SetUint64(held)
	}
	return t, nil
}

// erc20 asks a contract; nil when it does not answer as a token. It gets a view of its own, so that nobody sees what
// its code changes there.
func (p *Portfolio) erc20(ctx context.Context, q Query, a caip.Asset) (*token, error) {
	id, _ := a.Chain.EVMID()
	at, _ := a.Token()
	ch := p.Network.Chains[id]
	if ch == nil {
		return nil, nil
	}
	st, err := ch.State(ctx, ch.Head().Time)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	ask := func(data []byte) []byte {
		if r := st.Call(chain.Message{To: at, Data: data, Gas: readGas}); r.Err == nil {
			return r.Return
		}
		return nil
	}
	t := &token{held: new(big.Int)}
	var isToken bool
	if q.EVM != nil {
		t.held, isToken = erc20.DecodeUint(ask(erc20.BalanceOf(*q.EVM)))
	} else {
		_, isToken = erc20.DecodeUint(ask(erc20.BalanceOf(common.Address{})))
	}
	decimals, tells := erc20.DecodeUint(ask(erc20.Decimals()))
	if !isToken || !tells || decimals.Cmp(big.NewInt(maxDecimals)) > 0 {
		return nil, st.Err()
	}
	t.decimals, t.symbol = int(decimals.Int64()), symbol(ask(erc20.Symbol()))
	return t, st.Err()
}

// symbol reads the answer to symbol(): a string or, as the oldest tokens have it, 32 bytes; "" for anything else.
func symbol(raw []byte) string {
	said := string(common.TrimRightZeroes(raw))
	if len(raw) != 32 {
		kind, err := abi.NewType("string", "", nil)
		if err != nil {
			return ""
		}
		v, err := abi.Arguments{{Type: kind}}.Unpack(raw)
		if err != nil {
			return ""
		}
		said, _ = v[0].(string)
	}
	if !utf8.ValidString(said) {
		return ""
	}
	return text.Clean(said, maxSymbol)
}
