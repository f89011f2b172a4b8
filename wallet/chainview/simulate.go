package chainview

import (
	"context"
	"errors"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/reads"
	"coffer/wallet/verify"
)

// Simulate runs what a review is about on the nodes (eth_simulateV1), in a block after their newest one, at the time
// now. Nothing is signed or sent for it. Simulations on chains without a node are left out.
func (v *View) Simulate(ctx context.Context, now time.Time, simulations []verify.Simulation) []verify.Simulated {
	return each(ctx, v, simulations, func(s verify.Simulation) uint64 { return s.Chain },
		func(c *chain, ctx context.Context, s verify.Simulation) (verify.Simulated, error) {
			return c.simulate(ctx, now, s)
		}, func(s verify.Simulation, why string) verify.Simulated {
			return verify.Simulated{Simulation: s, Trouble: why}
		})
}

// errNoSimulation says that a node does not simulate.
var errNoSimulation = errors.New("it does not offer eth_simulateV1")

func (c *chain) simulate(ctx context.Context, now time.Time, s verify.Simulation) (verify.Simulated, error) {
	out := verify.Simulated{Simulation: s}
	for again := false; ; again = true {
		b, err := c.newest(ctx)
		if err != nil {
			return out, err
		}
		out.Block, out.At = uint64(b.Number), time.Unix(int64(b.Time), 0)
		var code hexutil.Bytes
		var blocks []simulatedBlock
		asks := []reads.Ask{{Method: "eth_getCode", Params: []any{s.Account}, Into: &code},
			{Method: "eth_simulateV1", Params: []any{request(b, now, s)}, Into: &blocks}}
		err = c.at.Pinned(ctx, reads.Block{Number: out.Block, Hash: b.Hash}, asks)
		switch refusal := reads.Refusal(asks[1].Err); {
		case refusal != nil && refusal.Code == methodMissing:
			return out, errNoSimulation
		case err != nil && !again && reads.IsGone(err):
			continue
		case err != nil:
			return out, err
		}
		out.There = len(code) > 0
		if len(blocks) == 1 {
			for _, r := range blocks[0].Calls {
				out.Runs = append(out.Runs, verify.SimulatedRun(r))
			}
		}
		return out, nil
	}
}

// methodMissing is what a node answers that does not know a method.
const methodMissing = -32601

// request is the first parameter of eth_simulateV1: all steps in one block, without the checks of signed transactions,
// and with moves of the chain's coin among the events. Without a number and a time some nodes take those of another
// block.
func request(after rpcpool.Block, now time.Time, s verify.Simulation) any {
	block := map[string]any{"number": after.Number + 1,
		"time": hexutil.Uint64(max(now.Unix(), int64(after.Time)+1))}
	overrides := map[common.Address]map[string]any{}
	for at, v := range s.Coins {
		overrides[at] = map[string]any{"balance": (*hexutil.Big)(v)}
	}
	if s.Code != nil {
		overrides[s.Account] = map[string]any{"code": hexutil.Bytes(s.Code)}
	}
	var calls []map[string]any
	for _, x := range s.Steps {
		call := map[string]any{"from": x.From, "to": x.To, "input": hexutil.Bytes(x.Data)}
		if x.Value != nil {
			call["value"] = (*hexutil.Big)(x.Value)
		}
		calls = append(calls, call)
	}
	return map[string]any{"traceTransfers": true,
		"blockStateCalls": []any{map[string]any{"blockOverrides": block, "stateOverrides": overrides, "calls": calls}}}
}

// simulatedBlock is as much of the answer as different clients write alike.
type simulatedBlock struct {
	Calls []run `json:"calls"`
}

type run verify.SimulatedRun

// UnmarshalJSON reads the outcome of a call. What it reverted with is in one of two places.
func (r *run) UnmarshalJSON(raw []byte) error {
	var x struct {
		Status hexutil.Uint64 `json:"status"`
		Return hexutil.Bytes  `json:"returnData"`
		Logs   []log          `json:"logs"`
		Error  *struct {
			Data any `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return err
	}
	*r = run{OK: x.Status == 1}
	if !r.OK {
		r.Revert = x.Return
		if x.Error != nil && len(r.Revert) == 0 {
			text, _ := x.Error.Data.(string) // what is no text is no data of a revert
			r.Revert, _ = hexutil.Decode(text)
		}
		return nil
	}
	for _, l := range x.Logs {
		r.Logs = append(r.Logs, verify.SimulatedLog{Address: l.Address, Topics: l.Topics, Data: l.Data})
	}
	return nil
}
