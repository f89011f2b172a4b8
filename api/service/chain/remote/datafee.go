package remote

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/rpcpool/reads"
	"coffer/api/service/chain"
)

// Where chains on another one say what it costs to publish a transaction there.
var (
	gasPriceOracle = common.HexToAddress("0x420000000000000000000000000000000000000F") // OP chains
	nodeInterface  = common.HexToAddress("0xC8")                                       // Arbitrum, for eth_call alone
)

// DataFee implements chain.Charger: getL1Fee and getOperatorFee of OP chains, which take coins beside gas, and the gas
// that Arbitrum adds. It asks nothing on other chains.
func (c *Chain) DataFee(ctx context.Context, m chain.Message) (wei *big.Int, gas uint64, err error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	c.mu.Lock()
	known := c.rules
	c.mu.Unlock()
	if known.at.IsZero() {
		h, err := c.look(ctx)
		if err != nil {
			return nil, 0, err
		}
		known = h.rules
	}
	wei = new(big.Int)
	switch {
	case known.oracle:
		wei, err = c.l1Fee(ctx, m)
	case len(known.foreign) > 1: // Arbitrum
		gas, err = c.l1Gas(ctx, m)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("what publishing a transaction of eip155:%d costs: %w", c.o.ChainID, err)
	}
	return wei, gas, nil
}

// padded has room for what a transaction is beside its data, which does not compress.
func padded(data []byte) []byte {
	for i := byte(0); i < 4; i++ {
		data = append(data[:len(data):len(data)], crypto.Keccak256([]byte{i})...)
	}
	return data
}

func (c *Chain) l1Fee(ctx context.Context, m chain.Message) (*big.Int, error) {
	var fee, operator data
	asks := []reads.Ask{
		{Method: "eth_call", Into: &fee, Params: []any{args(chain.Message{To: gasPriceOracle,
			Data: withBytes("getL1Fee(bytes)", padded(m.Data))}), "latest"}},
		{Method: "eth_call", Into: &operator, Hint: true, Params: []any{args(chain.Message{To: gasPriceOracle,
			Data: call("getOperatorFee(uint256)", new(big.Int).SetUint64(m.Gas).Bytes())}), "latest"}},
	}
	if err := c.send(ctx, asks); err != nil {
		return nil, err
	}
	if len(fee) != common.HashLength {
		return nil, fmt.Errorf("%s gives no fee", gasPriceOracle)
	}
	wei := new(big.Int).SetBytes(fee)
	if asks[1].Err == nil && len(operator) == common.HashLength { // since Isthmus
		wei.Add(wei, new(big.Int).SetBytes(operator))
	}
	return wei, nil
}

func (c *Chain) l1Gas(ctx context.Context, m chain.Message) (uint64, error) {
	var out data
	if err := c.one(ctx, &out, "eth_call", args(chain.Message{To: nodeInterface,
		Data: withBytes("gasEstimateL1Component(address,bool,bytes)", m.Data, m.To[:], nil)}), "latest"); err != nil {
		return 0, err
	}
	if len(out) < common.HashLength {
		return 0, fmt.Errorf("%s gives no gas", nodeInterface)
	}
	gas := new(big.Int).SetBytes(out[:common.HashLength])
	if !gas.IsUint64() || gas.Uint64() > 1<<40 {
		return 0, fmt.Errorf("%s gives %s gas", nodeInterface, gas)
	}
	return gas.Uint64(), nil
}

// call is the data of a call with words.
func call(signature string, words ...[]byte) []byte {
	out := crypto.Keccak256([]byte(signature))[:4]
	for _, w := range words {
		out = append(out, common.LeftPadBytes(w, common.HashLength)...)
	}
	return out
}

// withBytes is the data of a call with words and, last, bytes.
func withBytes(signature string, raw []byte, words ...[]byte) []byte {
	offset := big.NewInt(int64(len(words)+1) * common.HashLength)
	out := call(signature, append(words, offset.Bytes(), big.NewInt(int64(len(raw))).Bytes())...)
	out = append(out, raw...)
	return append(out, make([]byte, -len(raw)&(common.HashLength-1))...)
}
