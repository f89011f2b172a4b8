// Package tracers watches transactions while the EVM runs them, and answers the debug_ methods with what it saw: the
// tree of calls (callTracer), the accounts and slots as they were before and after (prestateTracer), and every step of
// the machine (no tracer named). It also answers eth_createAccessList and eth_simulateV1, which run calls in the same
// way.
//
// The shapes are those of go-ethereum's native tracers, which cannot be linked without its peer-to-peer network.
package tracers

import (
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"

	"coffer/api/service/jsonrpc"
)

// tracer is one observer of one transaction. Its hooks must get the start and the end of the transaction, too. Result
// is asked once, after the end.
type tracer struct {
	hooks  *tracing.Hooks
	result func() (any, error)
}

// maxSteps bounds the JSON of a trace of all steps, in bytes.
const maxSteps = 64 << 20

// newTracer makes the tracer that a configuration names. An error is for the caller.
func newTracer(c config) (*tracer, error) {
	switch c.Tracer {
	case "callTracer":
		var o callOptions
		if err := c.options(&o); err != nil {
			return nil, err
		}
		return newCalls(o), nil
	case "prestateTracer":
		var o prestateOptions
		if err := c.options(&o); err != nil {
			return nil, err
		}
		if o.DiffMode && o.IncludeEmpty {
			return nil, jsonrpc.Errorf(jsonrpc.CodeServer, "cannot use diffMode with includeEmpty")
		}
		return newPrestate(o), nil
	case "":
		return newSteps(c), nil
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeServer,
		"the tracer %.64q is not available; callTracer and prestateTracer are, and all steps without one", c.Tracer)
}

func newSteps(c config) *tracer {
	l := logger.NewStructLogger(&logger.Config{
		EnableMemory: c.EnableMemory, DisableStack: c.DisableStack, DisableStorage: c.DisableStorage,
		EnableReturnData: c.EnableReturnData, Limit: min(max(c.Limit, 0), maxSteps),
	})
	return &tracer{hooks: l.Hooks(), result: func() (any, error) { return l.GetResult() }}
}

// config is the second or third parameter of a debug_ method.
type config struct {
	Tracer           string          `json:"tracer"`
	TracerConfig     json.RawMessage `json:"tracerConfig"`
	Timeout          string          `json:"timeout"`
	EnableMemory     bool            `json:"enableMemory"`
	DisableStack     bool            `json:"disableStack"`
	DisableStorage   bool            `json:"disableStorage"`
	EnableReturnData bool            `json:"enableReturnData"`
	Limit            int             `json:"limit"`
}

// options reads the options of the tracer itself.
func (c config) options(into any) error {
	if len(c.TracerConfig) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.TracerConfig, into); err != nil {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "tracerConfig: %v", err)
	}
	return nil
}

// errNotOneTop says that the machine did not run exactly one call at the top.
var errNotOneTop = fmt.Errorf("the trace has no top-level call")
