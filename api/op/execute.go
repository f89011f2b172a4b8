package op

import (
	"bytes"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/internal/word"
)

// Call is one call that an account makes: the target, the native value in wei and the
// call data.
type Call struct {
	To    common.Address
	Value *big.Int
	Data  []byte
}

// executeSelector is execute(bytes32,bytes) of ERC-7579.
func executeSelector() [4]byte { return [4]byte{0xe9, 0xae, 0x5c, 0x53} }

// Call types in the first byte of an execute mode.
const (
	callTypeSingle = 0x00
	callTypeBatch  = 0x01
)

// MaxCalls bounds the number of calls in one batch.
const MaxCalls = 256

// EncodeExecute writes execute(mode, calls) in batch mode, the form the service uses
// even for one call (protocol §8.1). It needs 1 … MaxCalls calls, each with a
// value of 0 … 2^256-1 (nil is not zero), and at most MaxCallData bytes in the end.
func EncodeExecute(calls []Call) ([]byte, error) {
	if len(calls) == 0 || len(calls) > MaxCalls {
		return nil, refuse("U7", "calls", "1 to "+strconv.Itoa(MaxCalls)+" calls", strconv.Itoa(len(calls)))
	}
	for i, c := range calls {
		if !word.Fits(c.Value, 256) {
			return nil, refuse("L3", "calls["+strconv.Itoa(i)+"].value", "a number of wei below 2^256", "")
		}
	}
	out := wrapExecute(callTypeBatch, encodeBatch(calls))
	if len(out) > MaxCallData {
		return nil, refuse("L1", "callData", "at most "+strconv.Itoa(MaxCallData)+" bytes",
			strconv.Itoa(len(out))+" bytes")
	}
	return out, nil
}

func wrapExecute(callType byte, execution []byte) []byte {
	selector, mode := executeSelector(), [word.Size]byte{callType}
	out := append(selector[:], mode[:]...)
	out = word.Uint64(out, 2*word.Size)
	return word.Bytes(out, execution)
}

func encodeSingle(c Call) []byte {
	return append(word.Uint(append([]byte{}, c.To[:]...), c.Value), c.Data...)
}

func encodeBatch(calls []Call) []byte {
	out := word.Uint64(nil, word.Size)
	out = word.Uint64(out, uint64(len(calls)))
	offset := len(calls) * word.Size
	for _, c := range calls {
		out = word.Uint64(out, uint64(offset))
		offset += 4*word.Size + word.Padded(len(c.Data))
	}
	for _, c := range calls {
		out = word.Uint(word.Address(out, c.To), c.Value)
		out = word.Uint64(out, 3*word.Size)
		out = word.Bytes(out, c.Data)
	}
	return out
}

// DecodeExecute reads the call data of an account's execute. It accepts call types 00
// (one call) and 01 (batch) with exec type 00 and zeros in the rest of the mode; a
// delegate call, a static call, the try mode and every other function are refused
// (TH-U5). The calls found are encoded again and must give the same bytes, so no other
// reader can see different calls in them (TH-U6).
func DecodeExecute(data []byte) ([]Call, error) {
	if len(data) > MaxCallData {
		return nil, refuse("L1", "callData", "at most "+strconv.Itoa(MaxCallData)+" bytes",
			strconv.Itoa(len(data))+" bytes")
	}
	selector := executeSelector()
	if !bytes.HasPrefix(data, selector[:]) {
		return nil, refuse("U5", "callData", "execute(bytes32,bytes)", quoteSelector(data))
	}
	r := word.NewReader(data[len(selector):])
	mode := r.Word()
	if r.Err() == nil {
		if err := checkMode(mode); err != nil {
			return nil, err
		}
	}
	if r.Int(2*word.Size) != 2*word.Size && r.Err() == nil {
		return nil, nonCanonical("the offset of the execution is not 64")
	}
	execution := r.Bytes()
	if r.Err() != nil {
		return nil, nonCanonical(r.Err().Error())
	}
	if r.Len() != 0 {
		return nil, nonCanonical("bytes after the end")
	}
	calls, again, err := decodeExecution(mode[0], execution)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(wrapExecute(mode[0], again), data) {
		return nil, nonCanonical("encoding the calls again gives other bytes")
	}
	return calls, nil
}

func checkMode(mode [word.Size]byte) error {
	const field = "callData.mode"
	switch mode[0] {
	case callTypeSingle, callTypeBatch:
	case 0xff:
		return refuse("U5", field, "call type 00 or 01",
			"ff, a delegate call: the target's code would run as the account")
	case 0xfe:
		return refuse("U5", field, "call type 00 or 01", "fe, a static call")
	default:
		return refuse("U5", field, "call type 00 or 01", hex0x(mode[:1]))
	}
	if mode[1] == 0x01 {
		return refuse("U5", field, "exec type 00", "01, the try mode: calls may fail silently")
	}
	if mode[1] != 0 || mode != [word.Size]byte{mode[0]} {
		return refuse("U5", field, "zeros after the call type", hex0x(mode[:]))
	}
	return nil
}

// decodeExecution returns the calls and their canonical encoding.
func decodeExecution(callType byte, execution []byte) ([]Call, []byte, error) {
	if callType == callTypeBatch {
		calls, err := decodeBatch(execution)
		if err != nil {
			return nil, nil, err
		}
		return calls, encodeBatch(calls), nil
	}
	const head = common.AddressLength + word.Size
	if len(execution) < head {
		return nil, nil, nonCanonical("a single call needs a target and a value")
	}
	c := Call{
		To:    common.Address(execution[:common.AddressLength]),
		Value: new(big.Int).SetBytes(execution[common.AddressLength:head]),
		Data:  bytes.Clone(execution[head:]),
	}
	return []Call{c}, encodeSingle(c), nil
}

// decodeBatch reads abi.encode((address,uint256,bytes)[]) front to back. Offsets are
// not followed: the caller encodes the result again, which fixes every one of them.
func decodeBatch(b []byte) ([]Call, error) {
	r := word.NewReader(b)
	r.Word() // offset of the array
	n := r.Int(MaxCalls)
	r.Raw(n * word.Size) // offsets of the calls
	if r.Err() == nil && n == 0 {
		return nil, refuse("U7", "callData", "at least one call", "an empty batch")
	}
	calls := make([]Call, 0, n)
	for range n {
		c := Call{To: r.Address(), Value: r.Uint()}
		r.Word() // offset of the data
		c.Data = r.Bytes()
		calls = append(calls, c)
	}
	if r.Err() != nil {
		return nil, nonCanonical(r.Err().Error())
	}
	return calls, nil
}

func nonCanonical(why string) error {
	return refuse("U6", "callData", "the canonical ABI encoding", why)
}

func quoteSelector(data []byte) string {
	if len(data) < 4 {
		return strconv.Itoa(len(data)) + " bytes"
	}
	return "function " + hex0x(data[:4])
}
