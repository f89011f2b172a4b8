package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
)

// Texts that nodes have agreed on.
const (
	textParse    = "parse error"
	textInvalid  = "invalid request"
	textEmpty    = "empty batch"
	textTooMany  = "batch too large"
	textTooLarge = "response too large"
	textTimeout  = "request timed out"
	textObject   = "non-array args"
)

// TextInternal is what a caller is told of a fault that is not its business.
const TextInternal = "internal error"

// codeInternal is for a method that panicked, and for a fault of this side.
const codeInternal = -32603

var null = json.RawMessage("null")

// message is one request as it came. An absent id is nil, so that null can be told from it.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// parse reads a request body: one message or a batch. A body that is no JSON is an *Error; so is a batch that is empty
// or has more than most items, for which first is the id to answer with.
func parse(body []byte, most int) (all []json.RawMessage, batch bool, first json.RawMessage, err *Error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || !json.Valid(body) {
		return nil, false, null, Errorf(CodeParse, textParse)
	}
	if body[0] != '[' {
		return []json.RawMessage{body}, false, null, nil
	}
	if json.Unmarshal(body, &all) != nil {
		return nil, false, null, Errorf(CodeParse, textParse)
	}
	switch {
	case len(all) == 0:
		return nil, false, null, Errorf(CodeInvalidRequest, textEmpty)
	case len(all) > most:
		first = null
		for _, raw := range all[:most] {
			if m, wrong := read(raw); wrong == nil && m.ID != nil {
				first = m.ID
				break
			}
		}
		return nil, true, first, Errorf(CodeInvalidRequest, textTooMany)
	}
	return all, true, null, nil
}

// read reads one message. With an error its id is what the answer has to carry.
func read(raw json.RawMessage) (m message, err *Error) {
	if m, simple := readSimple(raw); simple {
		return m, nil
	}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &m) != nil {
		return message{ID: null}, Errorf(CodeInvalidRequest, textInvalid)
	}
	if m.ID != nil && !isID(m.ID) {
		return message{ID: null}, Errorf(CodeInvalidRequest, textInvalid)
	}
	if m.Version != "2.0" || m.Method == "" {
		if m.ID == nil {
			m.ID = null
		}
		return m, Errorf(CodeInvalidRequest, textInvalid)
	}
	return m, nil
}

// readSimple reads a message in the form that tools write: the four members, each once, and no escapes in names and
// method. It takes a fraction of the time of encoding/json, which reads every other message. The bytes must be valid
// JSON.
func readSimple(raw []byte) (m message, simple bool) {
	s := scanner{raw, 0}
	if !s.next('{') {
		return m, false
	}
	for {
		name, ok := s.text()
		if !ok || !s.next(':') {
			return m, false
		}
		switch {
		case string(name) == "jsonrpc" && m.Version == "":
			var v []byte
			v, ok = s.text()
			m.Version = string(v)
		case string(name) == "method" && m.Method == "":
			var v []byte
			v, ok = s.text()
			m.Method = string(v)
		case string(name) == "id" && m.ID == nil:
			m.ID, ok = s.value()
		case string(name) == "params" && m.Params == nil:
			m.Params, ok = s.value()
		default:
			return m, false
		}
		if !ok {
			return m, false
		}
		if s.next('}') {
			break
		}
		if !s.next(',') {
			return m, false
		}
	}
	s.space()
	return m, s.at == len(raw) && m.Version == "2.0" && m.Method != "" && m.ID != nil && isID(m.ID) && m.Params != nil
}

// scanner goes through valid JSON.
type scanner struct {
	raw []byte
	at  int
}

func (s *scanner) space() {
	for s.at < len(s.raw) && (s.raw[s.at] == ' ' || s.raw[s.at] == '\n' || s.raw[s.at] == '\t' || s.raw[s.at] == '\r') {
		s.at++
	}
}

// next goes past a byte if it comes next.
func (s *scanner) next(b byte) bool {
	s.space()
	if s.at == len(s.raw) || s.raw[s.at] != b {
		return false
	}
	s.at++
	return true
}

// text is the string that comes next, of printable ASCII without an escape.
func (s *scanner) text() ([]byte, bool) {
	if !s.next('"') {
		return nil, false
	}
	from := s.at
	for ; s.at < len(s.raw); s.at++ {
		switch b := s.raw[s.at]; {
		case b == '"':
			s.at++
			return s.raw[from : s.at-1], true
		case b == '\\', b < ' ', b > '~':
			return nil, false
		}
	}
	return nil, false
}

// value is the value that comes next.
func (s *scanner) value() ([]byte, bool) {
	s.space()
	from := s.at
	for depth := 0; s.at < len(s.raw); {
		switch b := s.raw[s.at]; b {
		case '"':
			for s.at++; s.at < len(s.raw) && s.raw[s.at] != '"'; s.at++ {
				if s.raw[s.at] == '\\' {
					s.at++
				}
			}
			s.at++
		case '[', '{':
			depth++
			s.at++
		case ']', '}', ',', ' ', '\n', '\t', '\r':
			if depth == 0 { // it ended before
				return s.raw[from:s.at], s.at > from
			}
			if s.at++; b == ']' || b == '}' {
				depth--
			}
		default:
			s.at++
			continue
		}
		if depth == 0 {
			return s.raw[from:min(s.at, len(s.raw))], true
		}
	}
	return s.raw[from:], s.at > from && s.at == len(s.raw)
}

// array splits the array that comes next.
func (s *scanner) array() (all []json.RawMessage, ok bool) {
	if !s.next('[') {
		return nil, false
	}
	if s.next(']') {
		return []json.RawMessage{}, true
	}
	for {
		v, ok := s.value()
		if !ok {
			return nil, false
		}
		if all = append(all, v); s.next(']') {
			return all, true
		}
		if !s.next(',') {
			return nil, false
		}
	}
}

// isID reports whether an id is a string, a number or null.
func isID(raw json.RawMessage) bool {
	switch raw[0] {
	case '{', '[', 't', 'f':
		return false
	}
	return true
}

// params reads the positional parameters.
func (m message) params() (Params, error) {
	var p Params
	if raw := bytes.TrimSpace(m.Params); len(raw) > 0 && raw[0] != '[' && !bytes.Equal(raw, null) {
		return nil, Errorf(CodeInvalidParams, textObject)
	}
	if len(m.Params) == 0 {
		return nil, nil
	}
	if all, ok := (&scanner{m.Params, 0}).array(); ok {
		return all, nil
	}
	return p, json.Unmarshal(m.Params, &p)
}

// answer is the answer to a call, nil for a notification.
func (m message) answer(result any, err error) []byte {
	id := m.ID
	if id == nil {
		return nil
	}
	if err != nil {
		return refusal(id, asError(err))
	}
	raw, whole := result.(json.RawMessage)
	if !whole {
		var wrong error
		if raw, wrong = json.Marshal(result); wrong != nil {
			return refusal(id, Errorf(codeInternal, TextInternal))
		}
	}
	if len(raw) == 0 {
		raw = null
	}
	out := make([]byte, 0, len(raw)+len(id)+36)
	out = append(append(out, `{"jsonrpc":"2.0","id":`...), id...)
	out = append(append(out, `,"result":`...), raw...)
	return append(out, '}')
}

// refusal is the answer to what could not be done.
func refusal(id json.RawMessage, e *Error) []byte {
	raw, err := json.Marshal(e)
	if err != nil { // its data is no JSON
		raw, _ = json.Marshal(Errorf(e.Code, "%s", e.Message))
	}
	out := make([]byte, 0, len(raw)+len(id)+36)
	out = append(append(out, `{"jsonrpc":"2.0","id":`...), id...)
	out = append(append(out, `,"error":`...), raw...)
	return append(out, '}')
}

// asError is what a caller is told of an error.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Errorf(CodeTimeout, textTimeout)
	}
	return Errorf(CodeServer, "%s", err)
}
