package entrypoint

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/text"
)

// Failure is a decoded reason. Op is the operation that failed its validation (then there is a Code) or whose calls
// failed, -1 when the reason names none; which call of a batch failed, an account does not say (FailedCall). Code is
// the EntryPoint's code such as "AA24", or one of the filler, "" when there is none. Text is plain words.
type Failure struct {
	Op   int
	Code string
	Text string
}

// CallsFailed reports whether the failure is of an operation's calls, not of its validation or of anything around it.
func (f Failure) CallsFailed() bool { return f.Op >= 0 && f.Code == "" }

// Codes of a delivery or a run that the filler refused as a whole: after its deadline, and while its owner has stopped
// it.
const (
	TooLate = "TooLate"
	Paused  = "IsPaused"
)

const (
	maxReason = 300
	maxNested = 4
)

// Explain decodes revert data of the EntryPoint, an account or a contract that one of them called.
func (c *Codec) Explain(data []byte) Failure {
	f := Failure{Op: -1}
	if f.Text = text.Clean(c.explain(data, &f, 0), maxReason); f.Text == "" {
		f.Text = "it failed without a reason"
	}
	return f
}

// Failed explains a call that failed, whether it reverted or ran into a limit.
func (c *Codec) Failed(r chain.Result) Failure {
	if len(r.Return) == 0 && r.Err != nil {
		return Failure{Op: -1, Text: r.Err.Error()}
	}
	return c.Explain(r.Return)
}

// FailedCall finds the call of a batch that fails, by making them one after the other as the account in a view in which
// nothing of the batch has happened. It is -1 when each succeeds alone, and when the data is not a batch that the codec
// reads. What succeeds stays in the view.
func FailedCall(st chain.State, account common.Address, callData []byte) int {
	calls, err := op.DecodeExecute(callData)
	if err != nil {
		return -1
	}
	for i, c := range calls {
		if st.Call(chain.Message{From: account, To: c.To, Value: c.Value, Data: c.Data}).Err != nil {
			return i
		}
	}
	return -1
}

func (c *Codec) explain(data []byte, f *Failure, depth int) string {
	switch {
	case len(data) == 0:
		return "it failed without a reason"
	case len(data) < 4 || depth > maxNested:
		return "0x" + hex.EncodeToString(data)
	}
	if s, err := abi.UnpackRevert(data); err == nil {
		return s
	}
	e, known := c.errors()[[4]byte(data[:4])]
	if !known {
		return "unknown error 0x" + hex.EncodeToString(data[:min(len(data), 68)])
	}
	args, err := e.Inputs.Unpack(data[4:])
	if err != nil {
		return e.Name
	}
	switch e.Name {
	case "FailedOp", "FailedOpWithRevert":
		return c.failedOp(args, f, depth)
	case "OperationFailed":
		if f.Op >= 0 || depth > 0 {
			return e.Name
		}
		if index := args[0].(*big.Int); index.IsInt64() {
			f.Op = int(index.Int64())
		}
		// An account's calls can revert with anything, also with what only the entry point says.
		inner := Failure{Op: f.Op}
		return c.explain(args[1].([]byte), &inner, depth)
	case TooLate, Paused:
		if depth == 0 {
			f.Code = e.Name
		}
	case "PostOpReverted":
		return e.Name + ": " + c.explain(args[0].([]byte), f, depth+1)
	}
	return e.Name + arguments(args)
}

func (c *Codec) failedOp(args []any, f *Failure, depth int) string {
	if index := args[0].(*big.Int); depth == 0 && index.IsInt64() {
		f.Op = int(index.Int64())
	}
	reason := args[1].(string)
	if code, _, ok := strings.Cut(reason, " "); ok && strings.HasPrefix(code, "AA") && f.Code == "" {
		f.Code = text.Clean(code, 8)
	}
	if len(args) == 3 {
		if inner := args[2].([]byte); len(inner) > 0 {
			reason += ": " + c.explain(inner, f, depth+1)
		}
	}
	return reason
}

func arguments(args []any) string {
	parts := make([]string, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case common.Address:
			parts[i] = v.Hex()
		case []byte:
			parts[i] = "0x" + hex.EncodeToString(v)
		case [32]byte:
			parts[i] = "0x" + hex.EncodeToString(v[:])
		default:
			parts[i] = fmt.Sprint(v)
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
