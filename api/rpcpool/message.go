package rpcpool

import (
	"bytes"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/text"
)

// maxMessage bounds what is kept of a node's message, in characters.
const maxMessage = 500

// Error is what a node answered instead of a result. Message is cleaned and holds no credential of the endpoint; Data
// is the hexadecimal data of the answer, that of the revert when the call reverted.
type Error struct {
	Code    int
	Message string
	Data    []byte
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// Reverted reports whether the EVM ran the call and it reverted.
func (e *Error) Reverted() bool {
	m := strings.ToLower(e.Message)
	return e.Code == 3 || strings.Contains(m, "revert") || strings.HasPrefix(m, "vm execution error")
}

// ErrNotFound is returned for an answer null that the result cannot hold: the node does not know what it was asked for.
var ErrNotFound = errors.New("the node does not have it")

// request is a call as it is sent.
type request struct {
	Version string `json:"jsonrpc"`
	ID      uint64 `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// encode writes one call as an object and several as an array.
func encode(calls []request) ([]byte, error) {
	if len(calls) == 1 {
		return stdjson.Marshal(calls[0])
	}
	return stdjson.Marshal(calls)
}

// reply is one answer of a node: a result, or err.
type reply struct {
	result  jsontext.Value
	err     *Error
	backoff time.Duration // how long the node asks to wait, 0 when it does not say
}

// errAnswer is an answer that is no JSON-RPC.
var errAnswer = errors.New("the answer is no JSON-RPC")

// wireReply is an answer as it arrives. Other members are ignored.
type wireReply struct {
	ID     jsontext.Value `json:"id"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
}

// decode reads the answer to calls. Answers are matched by id, whatever their order; whole is an error that the node
// gave for all of them together. Answers may be missing; none is there twice.
func decode(body []byte, calls []request) (answers map[uint64]reply, whole *reply, err error) {
	var all []wireReply
	switch body = bytes.TrimSpace(body); {
	case len(body) == 0:
		return nil, nil, fmt.Errorf("%w: it is empty", errAnswer)
	case body[0] == '<':
		return nil, nil, fmt.Errorf("%w but a web page", errAnswer)
	case body[0] == '[' && len(calls) > 1:
		err = json.Unmarshal(body, &all)
	default:
		all = make([]wireReply, 1)
		err = json.Unmarshal(body, &all[0])
	}
	if err != nil {
		return nil, nil, errAnswer
	}
	asked := make(map[string]uint64, len(calls))
	for _, c := range calls {
		asked[strconv.FormatUint(c.ID, 10)] = c.ID
	}
	answers = make(map[uint64]reply, len(all))
	for _, w := range all {
		r, err := w.reply()
		if err != nil {
			return nil, nil, err
		}
		id, ok := asked[string(w.ID)]
		switch {
		case !ok && r.err != nil && len(all) == 1 && (w.ID == nil || w.ID.Kind() == 'n'):
			return nil, &r, nil
		case !ok:
			return nil, nil, fmt.Errorf("%w: it answers a call that was not sent", errAnswer)
		}
		if _, twice := answers[id]; twice {
			return nil, nil, fmt.Errorf("%w: it answers one call twice", errAnswer)
		}
		answers[id] = r
	}
	return answers, nil, nil
}

func (w *wireReply) reply() (r reply, err error) {
	if w.Error != nil && w.Error.Kind() != 'n' {
		r.err, r.backoff = readError(w.Error)
		return r, nil
	}
	if w.Result == nil {
		return r, fmt.Errorf("%w: it has neither result nor error", errAnswer)
	}
	r.result = w.Result
	return r, nil
}

// readError reads an error in any of the forms that nodes and gateways give it.
func readError(raw jsontext.Value) (e *Error, backoff time.Duration) {
	e = &Error{}
	var w struct {
		Code    jsontext.Value `json:"code"`
		Message jsontext.Value `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	if raw.Kind() != '{' || json.Unmarshal(raw, &w) != nil {
		e.Message = plain(raw)
		return e, 0
	}
	if n, err := strconv.Atoi(plain(w.Code)); err == nil {
		e.Code = n
	}
	e.Message = plain(w.Message)
	if w.Data.Kind() == '"' {
		e.Data = hexOf(plain(w.Data))
		return e, 0
	}
	var data struct {
		Rate struct {
			Backoff float64 `json:"backoff_seconds"`
		} `json:"rate"`
	}
	if w.Data.Kind() == '{' && json.Unmarshal(w.Data, &data) == nil && data.Rate.Backoff > 0 {
		backoff = time.Duration(min(data.Rate.Backoff, maxPause.Seconds()) * float64(time.Second))
	}
	return e, backoff
}

// plain is a JSON string without its quotes, and anything else as it is written.
func plain(v jsontext.Value) string {
	var s string
	if v.Kind() == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// hexOf reads the data of a revert; some clients put a word in front of it. It is nil when s is no hexadecimal data.
func hexOf(s string) []byte {
	if at := strings.LastIndexByte(s, ' '); at >= 0 {
		s = s[at+1:]
	}
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok {
		return nil
	}
	data, err := hex.DecodeString(digits)
	if err != nil {
		return nil
	}
	return data
}

// store puts an answer into result, a pointer or nil. Nothing of an earlier content stays. Null is ErrNotFound unless
// result can hold it.
func store(answer jsontext.Value, result any) error {
	if result == nil {
		return nil
	}
	to := reflect.ValueOf(result)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return errResult
	}
	to = to.Elem()
	switch result := result.(type) {
	case *stdjson.RawMessage:
		*result = stdjson.RawMessage(answer.Clone())
		return nil
	case *jsontext.Value:
		*result = answer.Clone()
		return nil
	}
	if answer.Kind() == 'n' {
		if !holdsNull(to.Type()) {
			return ErrNotFound
		}
		to.SetZero()
		return nil
	}
	fresh := reflect.New(to.Type())
	if err := stdjson.Unmarshal(answer, fresh.Interface()); err != nil {
		return fmt.Errorf("%w of the expected form: %s", errAnswer, text.Clean(err.Error(), maxMessage))
	}
	to.Set(fresh.Elem())
	return nil
}

// holdsNull reports whether "nothing" differs from every other value of a type. Bytes do not: an account without code
// is not a block that the node lacks.
func holdsNull(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Interface:
		return true
	case reflect.Slice:
		return t.Elem().Kind() != reflect.Uint8
	default:
		return false
	}
}

// errResult means that the caller gave something that no answer can be stored in.
var errResult = errors.New("a result must be a pointer")

// canonical is an answer in the one form that equal answers have: members sorted, no blanks, numbers as written.
func canonical(answer jsontext.Value) (string, error) {
	c := answer.Clone()
	if err := c.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return "", errAnswer
	}
	return string(c), nil
}
