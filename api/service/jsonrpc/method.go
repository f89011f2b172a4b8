// Package jsonrpc serves JSON-RPC 2.0 over HTTP and WebSocket: calls, batches, subscriptions, and the bounds that a
// public node sets. What the methods do is in chain/evm/ethrpc, chain/solana/solrpc and bundler; they know this package
// by its types only.
//
// Methods are registered by name, each with a function that reads its own parameters. A server that finds methods by
// reflection would make the linker keep every exported method of the program (docs/modules.md).
package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Method answers one call. Its error reaches the caller as an *Error; any other error gets CodeServer and its text. Of
// what Options.Fault says is a fault, also inside of an *Error, the caller learns nothing.
type Method func(ctx context.Context, params Params) (result any, err error)

// Methods are the methods of one endpoint by name.
type Methods map[string]Method

// Codes of JSON-RPC 2.0, and those that nodes have agreed on.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeServer         = -32000
	CodeTimeout        = -32002
	CodeTooLarge       = -32003
	CodeReverted       = 3
)

// Error is the error object of an answer. Data is encoded as JSON; nil leaves it out.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`

	cause error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns what Errorf wrapped.
func (e *Error) Unwrap() error { return e.cause }

// Errorf makes an Error without data. It wraps an error as fmt.Errorf does.
func Errorf(code int, format string, args ...any) *Error {
	cause := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: cause.Error(), cause: cause}
}

// NotFound says that an endpoint has no such method.
func NotFound(method string) *Error {
	return Errorf(CodeMethodNotFound, "the method %s does not exist/is not available", method)
}

// Params are the positional parameters of a call, as they came. Null and absent are the same.
type Params []json.RawMessage

// Has reports whether parameter i is there and not null.
func (p Params) Has(i int) bool {
	return i < len(p) && len(p[i]) > 0 && !bytes.Equal(bytes.TrimSpace(p[i]), []byte("null"))
}

// AtMost refuses more than n parameters.
func (p Params) AtMost(n int) error {
	if len(p) > n {
		return Errorf(CodeInvalidParams, "too many arguments, want at most %d", n)
	}
	return nil
}

// Read decodes parameter i into v and refuses one that is missing.
func (p Params) Read(i int, v any) error {
	if !p.Has(i) {
		return Errorf(CodeInvalidParams, "missing value for required argument %d", i)
	}
	return p.Optional(i, v)
}

// Optional decodes parameter i into v, or leaves v as it is when the parameter is missing.
func (p Params) Optional(i int, v any) error {
	if !p.Has(i) {
		return nil
	}
	read := func(raw []byte) error { return json.Unmarshal(raw, v) }
	if own, ok := v.(json.Unmarshaler); ok { // what is of a request is valid JSON
		read = own.UnmarshalJSON
	}
	if err := read(p[i]); err != nil {
		return Errorf(CodeInvalidParams, "invalid argument %d: %v", i, err)
	}
	return nil
}

// A Subscriber is the connection of a call that can be written to later: that of a WebSocket.
type Subscriber interface {
	// Subscribe begins a subscription. The id goes into the answer to the call, which leaves before the first
	// notification. Run pushes results until its context ends, which it does when the connection closes, when the
	// subscription is ended by Unsubscribe, or when the reader is too slow; a Run that returns ends it too.
	Subscribe(s Subscription) (id any, err error)
	// Unsubscribe ends a subscription and reports whether there was one.
	Unsubscribe(id json.RawMessage) bool
}

// Subscription is what a subscription sends: notifications of Method whose params are the result and the id.
type Subscription struct {
	Method string // eth_subscription, accountNotification
	// Numeric makes the id a number, as Solana has it; otherwise it is a quantity of 16 random bytes.
	Numeric bool
	// Run calls push for every result until ctx ends. Push blocks while the connection takes no more and fails once it
	// is closed.
	Run func(ctx context.Context, push func(result any) error)
}

type placeKey struct{}

// Sent says that a call has handed its transaction over and waits for what comes of it: others can send meanwhile.
func Sent(ctx context.Context) {
	if leave, ok := ctx.Value(placeKey{}).(func()); ok {
		leave()
	}
}

type subscriberKey struct{}

// WithSubscriber is the context of calls that come over a connection which can be written to later.
func WithSubscriber(ctx context.Context, s Subscriber) context.Context {
	return context.WithValue(ctx, subscriberKey{}, s)
}

// SubscriberOf returns the connection of a call; it fails over HTTP with the error that nodes give.
func SubscriberOf(ctx context.Context) (Subscriber, error) {
	s, ok := ctx.Value(subscriberKey{}).(Subscriber)
	if !ok {
		return nil, Errorf(CodeMethodNotFound, "notifications not supported")
	}
	return s, nil
}
