package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"coffer/api"
	"coffer/api/network"
)

// SocketFile is the name of the local socket in the data directory. Its mode 0600 is the credential: who may open it
// may call the service (docs/security.md#who-may-call-the-service).
const SocketFile = "coffer.sock"

// maxSocketPath is the longest path that every system can bind to.
const maxSocketPath = 103

// localHost names the service where no host is dialled: in process and over the socket.
const localHost = "coffer.internal"

// errDial marks a request of which not one byte was sent.
var errDial = errors.New("the local socket did not answer")

// errOtherBase says that the process behind the socket was started with other flags.
var errOtherBase = errors.New("the other process serves below another base path")

// listenSocket binds the socket with mode 0600. It is made in a private directory and moved to its place, so there is
// no moment in which others could open it; a socket that a dead process left is replaced.
func listenSocket(path string) (net.Listener, error) {
	private, err := os.MkdirTemp(filepath.Dir(path), ".s-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("local socket: %w", err)
	}
	defer func() { _ = os.RemoveAll(private) }() // empty by then; what is left of it harms nobody
	made := filepath.Join(private, "s")
	if len(made) > maxSocketPath {
		return nil, fmt.Errorf("local socket: the path of %s is too long for a socket", path)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("local socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // it would remove the name it was made under
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("local socket: %w", err), l.Close())
	}
	return l, nil
}

// removeSocket removes the name of a socket that is not used any more.
func removeSocket(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// socketTransport carries requests to another process. Each request has a connection of its own, so a refused
// connection means that nothing was sent.
func socketTransport(path string) *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: writeTimeout,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			c, err := d.DialContext(ctx, "unix", path)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errDial, err)
			}
			return c, nil
		},
	}
}

// overSocket rewrites a request for the socket: no TLS, as nothing leaves the machine, and no key, as none is needed.
func overSocket(req *http.Request, body []byte) *http.Request {
	out := req.Clone(req.Context())
	out.URL.Scheme, out.URL.Host, out.Host = "http", localHost, localHost
	out.Header.Del("X-Api-Key")
	out.Body, out.GetBody, out.ContentLength = http.NoBody, nil, 0
	if len(body) > 0 {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return out
}

// askDescriptor asks the process behind the socket which network it runs.
func askDescriptor(ctx context.Context, t *http.Transport, basePath string) (d network.Descriptor, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+localHost+basePath+"/network.json", nil)
	if err != nil {
		return d, err
	}
	res, err := t.RoundTrip(req)
	if err != nil {
		return d, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, int64(api.DefaultLimits().Bytes)))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return d, err
	}
	if res.StatusCode == http.StatusNotFound {
		return d, errOtherBase
	}
	if res.StatusCode != http.StatusOK {
		return d, fmt.Errorf("the other process answered %s", res.Status)
	}
	return network.Decode(raw)
}
