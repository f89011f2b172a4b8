package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Endpoint is the JSON-RPC of one chain over HTTP. It is safe for concurrent use.
type Endpoint struct {
	URL  string
	HTTP *http.Client
}

// Nodes are the endpoints of a network by chain id; that of Solana is at 0.
type Nodes map[uint64]Endpoint

// Nodes are the endpoints that the line names; none without `--rpc`.
func (s Served) Nodes() Nodes {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: len(s.Endpoints)}}
	out := Nodes{}
	for _, e := range s.Endpoints {
		out[e.ID] = Endpoint{e.HTTP, c}
	}
	return out
}

// Close lets go of idle connections.
func (n Nodes) Close() {
	for _, e := range n {
		e.HTTP.CloseIdleConnections()
	}
}

// Refusal is an error that an endpoint answers with. Every other error of a call means that its outcome is unknown.
type Refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("%s (%d)", r.Message, r.Code) }

type request struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type response struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *Refusal        `json:"error"`
}

// Call asks once and decodes the result.
func (e Endpoint) Call(ctx context.Context, into any, method string, params ...any) error {
	var a response
	err := e.post(ctx, request{"2.0", 1, method, append([]any{}, params...)}, &a)
	if err == nil && a.Error != nil {
		err = a.Error
	}
	if err == nil {
		err = json.Unmarshal(a.Result, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// most is how many questions one batch has.
const most = 200

// Batch asks the same method with each list of parameters, and returns the results as they came, in that order.
func (e Endpoint) Batch(ctx context.Context, method string, params ...[]any) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(params))
	for from := 0; from < len(params); from += most {
		var ask []request
		for i := from; i < min(from+most, len(params)); i++ {
			ask = append(ask, request{"2.0", i, method, params[i]})
		}
		var answers []response
		if err := e.post(ctx, ask, &answers); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		for _, a := range answers {
			if a.Error != nil {
				return nil, fmt.Errorf("%s: %w", method, a.Error)
			}
			if a.ID < from || a.ID >= from+len(ask) {
				return nil, fmt.Errorf("%s: an answer to question %d, which was not asked", method, a.ID)
			}
			out[a.ID] = a.Result
		}
	}
	return out, nil
}

func (e Endpoint) post(ctx context.Context, ask, into any) error {
	raw, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/json")
	res, err := e.HTTP.Do(req)
	if err != nil {
		return err
	}
	raw, err = io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
