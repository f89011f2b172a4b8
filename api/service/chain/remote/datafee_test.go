package remote_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/reads"
	"coffer/api/service/chain"
	"coffer/api/service/chain/remote"
)

// charging is a node of a chain that has more contracts than it shows; each answers by the selector it is called with.
type charging struct {
	reads.Node
	has   map[string]map[string]string
	asked []string
}

func (n *charging) Batch(ctx context.Context, calls []rpcpool.Call) error {
	err := n.Node.Batch(ctx, calls)
	for i := range calls {
		raw, errJSON := json.Marshal(calls[i].Params)
		if errJSON != nil || err != nil {
			return err
		}
		text := strings.ToLower(string(raw))
		for at, answers := range n.has {
			if !strings.Contains(text, at) {
				continue
			}
			answer := "0x60"
			if calls[i].Method == "eth_call" {
				n.asked = append(n.asked, text)
				for selector, said := range answers {
					if strings.Contains(text, "0x"+selector) {
						answer = said
					}
				}
			}
			if calls[i].Err = nil; answer == "revert" {
				calls[i].Err = &rpcpool.Error{Code: 3, Message: "execution reverted"}
			} else if err := json.Unmarshal([]byte(`"`+answer+`"`), calls[i].Result); err != nil {
				return err
			}
		}
	}
	return nil
}

func word(n int64) string {
	return hexutil.Encode(common.LeftPadBytes(hexutil.MustDecodeBig(hexutil.EncodeUint64(uint64(n))).Bytes(), 32))
}

// OP chains take coins for publishing the data, Arbitrum gas, and others nothing.
func TestADataFeeIsWhatTheChainsOwnContractsSay(t *testing.T) {
	const oracle, arbSys, nodes = "0x420000000000000000000000000000000000000f",
		"0x0000000000000000000000000000000000000064", "0x00000000000000000000000000000000000000c8"
	for name, c := range map[string]struct {
		has map[string]map[string]string
		wei int64
		gas uint64
	}{
		"ethereum": {},
		"op":       {map[string]map[string]string{oracle: {"49948e0e": word(700), "275aedd2": word(30)}}, 730, 0},
		"older op": {map[string]map[string]string{oracle: {"49948e0e": word(700), "275aedd2": "revert"}}, 700, 0},
		"arbitrum": {map[string]map[string]string{arbSys: {},
			nodes: {"77d488a2": word(90_000) + strings.Repeat("0", 128)}}, 0, 90_000},
	} {
		n := &charging{has: c.has}
		l := newLab(t, func(o *remote.Options) { n.Node, o.Node = o.Node, n })
		m := chain.Message{To: common.Address{0xee}, Data: []byte{0xde, 0xad, 0xbe, 0xef, 1, 2, 3}, Gas: 300_000}
		wei, gas, err := l.remote.DataFee(t.Context(), m)
		if err != nil || wei.Int64() != c.wei || gas != c.gas {
			t.Errorf("%s: %v wei, %d gas, %v", name, wei, gas, err)
		}
		if c.has != nil && !strings.Contains(strings.Join(n.asked, " "), "deadbeef010203") {
			t.Errorf("%s was not asked about the data: %s", name, n.asked)
		}
	}
	n := &charging{has: map[string]map[string]string{oracle: {"49948e0e": "revert"}}}
	l := newLab(t, func(o *remote.Options) { n.Node, o.Node = o.Node, n })
	if wei, _, err := l.remote.DataFee(t.Context(), chain.Message{}); err == nil {
		t.Errorf("a fee that is not known is %s", wei)
	}
}
