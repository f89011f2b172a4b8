package settle_test

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

func calldata(signature string, words ...[]byte) string {
	out := crypto.Keccak256([]byte(signature))[:4]
	for _, w := range words {
		out = append(out, common.LeftPadBytes(w, 32)...)
	}
	return "0x" + hex.EncodeToString(out)
}

// Calls into the service's own contracts, to odd recipients and of odd sizes either settle or are refused by name, and
// no token is made or lost.
func TestOddCallsSettleOrAreRefusedByName(t *testing.T) {
	t.Parallel()
	id := common.HexToHash("0x11")
	for name, c := range map[string]struct {
		want string // error of prepare or call-quote, "" to settle
		call func(w *World) []api.Call
	}{
		"to the token itself": {"", func(w *World) []api.Call {
			token, _ := w.Asset("usdc", Base).Token()
			return []api.Call{Transfer(w.Asset("usdc", Base), token, 7)}
		}},
		"to itself": {"", func(w *World) []api.Call {
			return []api.Call{
				Transfer(w.Asset("usdc", Base), w.User.Address, 7)}
		}},
		"to the escrow": {"", func(w *World) []api.Call {
			return []api.Call{Transfer(w.Asset("usdc", Base), w.Installation.Pins.Escrow, 7)}
		}},
		"more than was credited": {api.ErrSimulationFailed, func(w *World) []api.Call {
			return []api.Call{Transfer(w.Asset("usdc", Base), payee(), 200*usdcPlain),
				Transfer(w.Asset("usdc", Base), payee(), 51*usdcPlain)}
		}},
		"a release from the escrow": {api.ErrSimulationFailed, func(w *World) []api.Call {
			return []api.Call{{To: w.Installation.Pins.Escrow.Hex(),
				Data: "0x" + hex.EncodeToString(escrow.ReleaseCalldata(id, w.User.Address, nil))}}
		}},
		"a refund from the escrow": {api.ErrSimulationFailed, func(w *World) []api.Call {
			return []api.Call{{To: w.Installation.Pins.Escrow.Hex(),
				Data: "0x" + hex.EncodeToString(escrow.RefundCalldata(id, w.User.Address))}}
		}},
		"a deposit in the entry point, taken back": {"", func(w *World) []api.Call {
			point := w.Installation.Pins.EntryPoint.Hex()
			return []api.Call{
				{To: point, Value: "5", Data: calldata("depositTo(address)", w.User.Address[:])},
				{To: point, Data: calldata("withdrawTo(address,uint256)", payee().Bytes(), []byte{5})},
			}
		}},
		"a nonce that it uses up itself": {"", func(w *World) []api.Call {
			key := op.Nonce{Validator: w.Installation.Pins.ECDSAValidator, Key: 9}.Key192()
			return []api.Call{{To: w.Installation.Pins.EntryPoint.Hex(),
				Data: calldata("incrementNonce(uint192)", key.Bytes())}}
		}},
		"operations inside an operation": {api.ErrSimulationFailed, func(w *World) []api.Call {
			return []api.Call{{To: w.Installation.Pins.EntryPoint.Hex(),
				Data: calldata("handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)",
					[]byte{64}, payee().Bytes(), nil)}}
		}},
		"the paymaster": {api.ErrSimulationFailed, func(w *World) []api.Call {
			return []api.Call{{To: w.Installation.Pins.Paymaster.Hex(),
				Data: calldata("postOp(uint8,bytes,uint256,uint256)")}}
		}},
		"more value than there is": {api.ErrSimulationFailed, func(*World) []api.Call {
			return []api.Call{{To: payee().Hex(), Value: "0x" + strings.Repeat("f", 64)}}
		}},
		"call data of 125 kB": {"", func(*World) []api.Call {
			return []api.Call{{To: payee().Hex(), Data: "0x" + strings.Repeat("ab", 125_000)}}
		}},
		"call data of 132 kB": {api.ErrValidation, func(*World) []api.Call {
			return []api.Call{{To: payee().Hex(), Data: "0x" + strings.Repeat("ab", 132_000)}}
		}},
		"a hundred calls": {"", func(*World) []api.Call { return hundred(api.Call{To: payee().Hex()}) }},
		"gas without an end": {api.ErrSimulationFailed, func(*World) []api.Call {
			return hundred(api.Call{To: common.BytesToAddress([]byte{5}).Hex(), Data: modexp()})[:10]
		}},
		"the deterministic deployer with garbage": {api.ErrSimulationFailed, func(*World) []api.Call {
			return []api.Call{{To: "0x4e59b44847b379578588920ca78fbf26c0b4956c", Data: "0x" + strings.Repeat("fe", 33)}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(t, Options{})
			r := crossChain(w)
			w.Fund(w.User.Address, caip.Native(Base), 1000)
			r.Calls = c.call(w)
			pins := w.Installation.Pins
			token, _ := w.Asset("usdc", Base).Token()
			others := []common.Address{payee(), token, pins.EntryPoint, pins.Paymaster}
			sums := w.Sums(others...)
			prepared, err := w.Prepare(r)
			var doc *api.Document
			if err == nil {
				doc, err = w.CallQuote(prepared, "")
			}
			if c.want != "" {
				Refused(t, err, c.want)
				return
			}
			Must(t, err)
			if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
				t.Fatalf("status %+v", s)
			}
			w.SameSums(sums, w.Sums(others...))
		})
	}
}

func hundred(c api.Call) []api.Call {
	out := make([]api.Call, 100)
	for i := range out {
		out[i] = c
	}
	return out
}

// modexp is a call of the precompile that costs much.
func modexp() string {
	lengths := strings.Repeat("0", 61) + "200"
	return "0x" + strings.Repeat(lengths, 3) + strings.Repeat("ff", 3*0x200)
}

// Quotes of one account that take the same money, executed at the same time, some of them failing: each ends, and
// nothing stays pledged or claimed.
func TestOverlappingQuotesOfOneAccountLeaveNothingBehind(t *testing.T) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(3, 5))
	w := New(t, Options{Faults: &settle.Faults{Revert: func(
		string) bool {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(3) == 0
	}}})
	for _, id := range []uint64{Ethereum, Optimism, Polygon, Base, Arbitrum, Avalanche} {
		w.Fund(w.User.Address, w.Asset("usdc", id), 60*usdcPlain)
	}
	sums := w.Sums(payee())
	done := map[string]int{}
	for range 4 {
		var signed []*api.Document
		for _, id := range []uint64{Ethereum, Optimism, Polygon, Base, Arbitrum, Avalanche} {
			for _, v := range []int64{10, 40, 75} {
				prepared, err := w.Prepare(pay(w, id, v*usdcPlain))
				if err == nil {
					var doc *api.Document
					if doc, err = w.CallQuote(prepared, ""); err == nil {
						signed = append(signed, w.SignQuote(doc))
						continue
					}
				}
				Refused(t, err, api.ErrInsufficientBalance)
			}
		}
		var group sync.WaitGroup
		for _, doc := range signed {
			group.Go(func() {
				err := w.Execute(doc)
				name := "accepted"
				var e *api.Error
				if errors.As(err, &e) {
					name = e.Name
				} else if err != nil {
					t.Errorf("a fault of the service: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				done[name]++
			})
		}
		group.Wait()
		Must(t, w.Settler.Idle(context.Background()))
		w.SameSums(sums, w.Sums(payee()))
		nothingLeft(t, w)
	}
	if done["accepted"] < 8 || len(done) < 2 {
		t.Errorf("the mix was too thin: %v", done)
	}
	t.Logf("%v", done)
	escrowed := new(big.Int)
	for _, id := range []uint64{Ethereum, Optimism, Polygon, Base, Arbitrum, Avalanche} {
		escrowed.Add(escrowed, w.Balance(w.Installation.Pins.Escrow, w.Asset("usdc", id)))
	}
	if escrowed.Sign() != 0 {
		t.Errorf("%s stay in escrow", escrowed)
	}
}

func nothingLeft(t *testing.T, w *World) {
	t.Helper()
	Must(t, w.Installation.Store.View(func(tx store.Tx) error {
		for _, bucket := range []string{"book-pledge", "book-claim", "book-open"} {
			tx.Bucket(bucket).Ascend(nil, func(k, v []byte) bool {
				t.Errorf("%s still holds %q = %x", bucket, k, v)
				return true
			})
		}
		return nil
	}))
}
