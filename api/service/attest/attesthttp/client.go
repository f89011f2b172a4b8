package attesthttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/secret"
	"coffer/api/service/attest"
	"coffer/api/text"
)

// asking bounds a request to an attester elsewhere, from the connection to the last byte.
const asking = 20 * time.Second

// maxWhy bounds what is repeated of an attester's refusal, in characters.
const maxWhy = 200

// Options say where an attester is and what it must be of. URL is https, or http on this machine; RootCAs are those
// that its certificate follows from, nil for the system's. Key is the API key that it asks for. Within bounds a
// request, 0 for the usual.
type Options struct {
	Attester common.Address
	URL      string
	RootCAs  *x509.CertPool
	Key      secret.Secret
	Network  string
	Filler   common.Address
	Escrow   common.Address
	Within   time.Duration
}

// Remote is an attester elsewhere. It is safe for concurrent use.
type Remote struct {
	o    Options
	web  *http.Client
	base string
}

var _ attest.Port = (*Remote)(nil)

// NewRemote makes the client of an attester. It sends nothing.
func NewRemote(o Options) *Remote {
	if o.Within == 0 {
		o.Within = asking
	}
	return &Remote{o: o, base: strings.TrimSuffix(o.URL, "/"), web: &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
			DisableKeepAlives: true, DisableCompression: true, Proxy: http.ProxyFromEnvironment,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it sends elsewhere") },
	}}
}

// Address implements attest.Port.
func (r *Remote) Address() common.Address { return r.o.Attester }

// Ping demands that the attester answers, and that it is the one of its address and of this network's contracts.
func (r *Remote) Ping(ctx context.Context) error {
	var info Info
	if err := r.ask(ctx, http.MethodGet, InfoPath, nil, &info); err != nil {
		return err
	}
	switch {
	case info.Attester != r.o.Attester:
		return fmt.Errorf("it is the attester %s", info.Attester.Hex())
	case info.Network != r.o.Network:
		return errors.New("it is of another network")
	case info.Filler != r.o.Filler || info.Escrow != r.o.Escrow:
		return fmt.Errorf("it attests for the escrow %s", info.Escrow.Hex())
	}
	return nil
}

// Attest implements attest.Port: the signature is the attester's for the claim.
func (r *Remote) Attest(ctx context.Context, c attest.Claim) ([]byte, error) {
	body, err := EncodeRequest(r.o.Network, c)
	if err != nil {
		return nil, err
	}
	var given answer
	if err := r.ask(ctx, http.MethodPost, AttestPath, body, &given); err != nil {
		return nil, err
	}
	return given.Signature, attest.Check(r.o.Attester, r.o.Filler, c, given.Signature)
}

// ask sends a request once, and reads its answer.
func (r *Remote) ask(ctx context.Context, method, path string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, r.o.Within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address cannot be asked")
	}
	req.Header.Set("X-Api-Key", string(r.o.Key.Reveal()))
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := r.web.Do(req)
	if err != nil {
		if u, is := errors.AsType[*url.Error](err); is {
			err = u.Err // without the address again
		}
		return fmt.Errorf("it does not answer: %s", text.Clean(err.Error(), maxWhy))
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, MaxAnswer+1))
	if errors.Join(err, res.Body.Close()) != nil {
		return errors.New("its answer broke off")
	}
	return read(res.StatusCode, raw, into)
}

// read reads an answer of an attester.
func read(status int, raw []byte, into any) error {
	limits := api.Limits{Bytes: MaxAnswer, Depth: 4, Elements: 64, Values: 128}
	doc, err := api.ParseDocument(raw, limits)
	if err != nil {
		return fmt.Errorf("it answered %d and no JSON that can be read", status)
	}
	if status == http.StatusOK {
		if err := json.Unmarshal(doc.Raw(), into); err != nil {
			return errors.New("its answer is something else")
		}
		return nil
	}
	var refused api.Error
	if err := json.Unmarshal(doc.Raw(), &refused); err != nil {
		return fmt.Errorf("it answered %d", status)
	}
	why := text.Clean(refused.Message, maxWhy)
	switch refused.Name {
	case errNotYet:
		return fmt.Errorf("it says: %s: %w", why, attest.ErrNotYet)
	case errNotFilled:
		return fmt.Errorf("it says: %s: %w", why, attest.ErrNotFilled)
	}
	return fmt.Errorf("it answered %d: %s", status, why)
}
