package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/bundler"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/chain/evm/tracers"
	"coffer/api/service/chain/solana"
	"coffer/api/service/chain/solana/solrpc"
	"coffer/api/service/devclock"
	"coffer/api/service/devnet/faucet"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/store"
)

// ErrRemote says that endpoints were asked for where other machines could reach them.
var ErrRemote = errors.New("endpoints are opened on a loopback address only, such as 127.0.0.1:8545")

// ErrNoNodes says that the chains of a service are not in this process.
var ErrNoNodes = errors.New("another process has the chains of this data")

// ErrOthers says that endpoints were asked of a service that is itself a client of nodes.
var ErrOthers = errors.New("the chains of this network have endpoints of their own")

// NodesOptions say how the chains of a service are reached by JSON-RPC. Listen is host:port, port 0 for a free one.
type NodesOptions struct {
	Listen  string
	PerPort bool         // a port for each chain, from that of Listen on
	Remote  bool         // Listen may be an address that other machines reach
	Hosts   []string     // further names that a request may be addressed to
	CORS    []string     // the origins of web pages that may call, "*" for all
	Version string       // of the program
	Dev     *Dev         // nil: state changes by signed transactions alone
	Log     *slog.Logger // nil: that of the service
	Limits  jsonrpc.Limits
	Front   *Front // has the ports open; nil: they are opened
}

// Dev makes endpoints those of a development network, which changes state without a signature. Clock is what the
// service was opened with; Accounts are those that the endpoints send for.
type Dev struct {
	Clock    *devclock.Clock
	Accounts []common.Address
}

// Node is the endpoint of one chain.
type Node struct {
	Chain     string `json:"chain"` // as the interface writes it
	Name      string `json:"name"`
	ID        uint64 `json:"id,omitzero"` // of EIP-155
	HTTP      string `json:"http"`
	WebSocket string `json:"webSocket"`
}

// Nodes are endpoints at work.
type Nodes struct {
	List []Node
	// Notes are what a person should know of them.
	Notes []string

	server *jsonrpc.Server
	once   sync.Once
	ends   []func() error
	err    error
}

// ServeNodes opens an endpoint for every chain until the context ends or Close is called. Nothing but the chains is
// reached by it: no key, no record of the service. It is opened once at a time.
func (s *Service) ServeNodes(ctx context.Context, o NodesOptions) (_ *Nodes, err error) {
	address, err := loopbackOnly(ctx, o.Listen, o.Remote)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = s.opts.Log
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, err
	}
	n := &Nodes{server: jsonrpc.NewServer(jsonrpc.Options{Log: o.Log, Fault: toldOfFault,
		Hosts: append(slices.Clone(o.Hosts), host), Remote: o.Remote, CORS: o.CORS, Limits: o.Limits})}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("endpoints: %w", err), n.Close())
		}
	}()
	if !s.nodes.CompareAndSwap(nil, n.server) {
		return nil, errors.New("they are open already")
	}
	n.ends = append(n.ends, func() error { s.nodes.Store(nil); return nil })
	if o.Dev != nil { // in data whose clock was moved before, it goes on from there
		if err := o.Dev.Clock.Set(s.latest()); err != nil && !errors.Is(err, devclock.ErrBack) {
			return nil, err
		}
	}
	all, err := s.endpoints(n, o)
	if err != nil {
		return nil, err
	}
	if err := n.listen(ctx, address, all, o); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = n.Close() })
	return n, nil
}

// toldOfFault is what a caller is told of a fault of the disk or of the data, whose text may name a file or a server;
// "" of any other error.
func toldOfFault(err error) string {
	if errors.Is(err, store.ErrAway) {
		return textAway
	}
	for _, fault := range []error{store.ErrNotWritten, store.ErrFull, store.ErrClosed, store.ErrReadOnly, store.ErrKey,
		store.ErrBucketName, store.ErrInUse, evm.ErrConflict, solana.ErrConflict} {
		if errors.Is(err, fault) {
			return jsonrpc.TextInternal
		}
	}
	_, file := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	_, system := errors.AsType[syscall.Errno](err)
	if file || link || system || IsDamage(err) {
		return jsonrpc.TextInternal
	}
	return ""
}

// textAway asks for patience while the server of the database is away.
const textAway = "the service's database does not answer: ask again in a moment"

// Close ends the endpoints: requests under way are cut off, as those of a node that stops.
func (n *Nodes) Close() error {
	n.once.Do(func() {
		for _, end := range slices.Backward(n.ends) {
			n.err = errors.Join(n.err, end())
		}
	})
	return n.err
}

// Endow gives accounts of a development network 10 000 of every coin and token of their chains; few of them get, on EVM
// chains, the tokens of test funds alone. An account is endowed once.
func (s *Service) Endow(ctx context.Context, to []common.Address, few bool, solana []solmsg.Key) error {
	if s.faucet == nil {
		return errors.New("this service gives no test funds")
	}
	if err := s.faucet.Endow(ctx, to, few); err != nil {
		return err
	}
	return s.faucet.EndowSolana(ctx, solana)
}

// endpoint is what answers for one chain.
type endpoint struct {
	Node
	path    string
	handler http.Handler
}

// endpoints makes those of every chain.
func (s *Service) endpoints(n *Nodes, o NodesOptions) ([]endpoint, error) {
	if s.embedded == nil {
		return nil, ErrOthers
	}
	var all []endpoint
	for _, id := range s.in.ChainIDs {
		c, here := s.in.Chains[id].(*evm.Chain)
		if !here {
			return nil, ErrNoNodes
		}
		node, methods := s.node(c, o)
		n.ends = append(n.ends, func() error { node.Close(); return nil })
		known, _ := s.in.Catalog.Chain(caip.EVM(id))
		all = append(all, endpoint{path: strconv.FormatUint(id, 10), handler: n.server.Endpoint(methods),
			Node: Node{Chain: caip.EVM(id).String(), Name: known.Name, ID: id}})
	}
	n.ends = append(n.ends, func() error { n.server.Close(); return nil })
	ledger := n.server.Endpoint(solrpc.Methods(s.embedded.Ledger, s.solanaOptions()))
	return append(all, endpoint{path: "solana", handler: ledger,
		Node: Node{Chain: caip.SolanaMainnet().String(), Name: s.in.Catalog.Solana().Name}}), nil
}

// solanaVersion is the version of the validator whose answers the endpoint of Solana gives.
const solanaVersion = "4.3.0"

// solanaOptions let the faucet send where the service gives test funds.
func (s *Service) solanaOptions() solrpc.Options {
	o := solrpc.Options{Clock: s.opts.Clock, Version: solanaVersion}
	if s.faucet != nil {
		o.Airdrop = solrpc.AirdropFrom(s.embedded.Ledger, s.embedded.SolanaFaucet, s.opts.Clock)
	}
	return o
}

// node attaches to a chain, with the methods of its endpoint.
func (s *Service) node(c *evm.Chain, o NodesOptions) (*evm.Node, jsonrpc.Methods) {
	no := evm.NodeOptions{Clock: s.opts.Clock}
	mo := ethrpc.Options{Version: o.Version, YieldToWriter: s.opts.Store.YieldToWriter}
	if o.Dev != nil {
		clock := &nodeClock{shared: o.Dev.Clock, head: func() (uint64, uint64) {
			h := c.Head()
			return h.Number, h.Time
		}}
		no.Clock, no.Dev, no.Reverted = clock.Now, true, s.reverted(c)
		mo.Dev, mo.Accounts, mo.Clock = true, o.Dev.Accounts, clock
	}
	node := evm.NewNode(c, no)
	all := tracers.Methods(node)
	maps.Copy(all, bundler.Methods(bundler.Options{
		Node: node, Chain: c, Send: s.in.Outbox.EVM(c.ID()), Operator: s.in.Operator, EntryPoint: s.in.Pins.EntryPoint,
		Codec: entrypoint.New(s.in.Pins.EntryPoint, s.in.Pins.Escrow), Clock: no.Clock,
	}))
	for name, m := range all {
		all[name] = func(ctx context.Context, p jsonrpc.Params) (any, error) {
			s.opts.Store.YieldToWriter()
			return m(ctx, p)
		}
	}
	maps.Copy(all, ethrpc.Methods(node, mo))
	return node, all
}

// reverted ends what the service knows of blocks that a chain was taken back from.
func (s *Service) reverted(c *evm.Chain) func(store.Tx, uint64) error {
	return func(tx store.Tx, to uint64) error {
		gone := func(h common.Hash) bool { return !c.Has(tx, h) }
		ended, err := s.book.Reset(tx, c.ID(), gone)
		if err == nil {
			err = faucet.Reset(tx, c.ID(), gone)
		}
		if err == nil && ended > 0 {
			s.opts.Log.Warn("a chain of the devnet was taken back", "chain", c.ID(), "block", to, "quotes", ended)
		}
		return err
	}
}

// listen opens the ports.
func (n *Nodes) listen(ctx context.Context, address string, all []endpoint, o NodesOptions) error {
	if o.PerPort {
		return n.listenEach(ctx, address, all, o)
	}
	var port net.Listener
	var at string
	if o.Front != nil {
		at = o.Front.at
	} else {
		var err error
		if port, err = n.bind(ctx, address); err != nil {
			return err
		}
		at = reachable(port.Addr())
	}
	each := paths{}
	for _, e := range all {
		each["/"+e.path] = e.handler
		e.HTTP, e.WebSocket = "http://"+at+"/"+e.path, "ws://"+at+"/"+e.path
		n.List = append(n.List, e.Node)
	}
	last := all[len(all)-1]
	next := paths{"/" + last.path: last.handler}
	if o.Front == nil {
		n.serve(port, each, o)
		n.serveAbove(ctx, at, next, o)
		return nil
	}
	n.ends = append(n.ends, o.Front.endCalls) // the first that ends
	if o.Front.answer(each, next); o.Front.noNext {
		n.missAbove(at)
	}
	return nil
}

// serveAbove answers one port above an address, where web3.js looks for the WebSocket of Solana. When another program
// has that port it leaves a note and reports false.
func (n *Nodes) serveAbove(ctx context.Context, at string, h http.Handler, o NodesOptions) bool {
	next, err := n.bind(ctx, above(at, 1))
	if err != nil {
		n.missAbove(at)
		return false
	}
	n.serve(next, h, o)
	return true
}

func (n *Nodes) missAbove(at string) {
	n.Notes = append(n.Notes, "port "+portOf(above(at, 1))+" is taken: @solana/web3.js needs wsEndpoint "+
		n.List[len(n.List)-1].WebSocket)
}

// paths are the handlers of one port.
type paths map[string]http.Handler

// ServeHTTP implements http.Handler.
func (p paths) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, known := p[strings.TrimSuffix(r.URL.Path, "/")]
	if !known {
		h = http.NotFoundHandler()
	}
	h.ServeHTTP(w, r)
}

// listenEach opens a port for every chain, one above the other, and one more for the WebSocket of Solana.
func (n *Nodes) listenEach(ctx context.Context, address string, all []endpoint, o NodesOptions) error {
	free := portOf(address) == "0"
	for i, e := range all {
		at := address
		if !free {
			at = above(address, i)
		}
		port, err := n.bind(ctx, at)
		if err != nil {
			return err
		}
		at = reachable(port.Addr())
		e.HTTP, e.WebSocket = "http://"+at, "ws://"+at
		n.List = append(n.List, e.Node)
		n.serve(port, e.handler, o)
		if e.ID != 0 {
			continue
		}
		if n.serveAbove(ctx, at, e.handler, o) {
			n.List[i].WebSocket = "ws://" + above(at, 1)
		}
	}
	return nil
}

// bind listens on an address until Close.
func (n *Nodes) bind(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		n.ends = append(n.ends, func() error {
			if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				return err
			}
			return nil
		})
	}
	return l, err
}

// serve answers what comes in at a port.
func (n *Nodes) serve(l net.Listener, h http.Handler, o NodesOptions) {
	t := DefaultTimeouts()
	few := newBoundListener(l, 0, time.Now, func(what string, closed, bound int) {
		o.Log.Warn("connections to an endpoint are closed: "+what, "closed", closed, "bound", bound)
	})
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: t.Header, ReadTimeout: t.Read, WriteTimeout: t.Write, IdleTimeout: t.Idle,
		MaxHeaderBytes: maxNodeHeader, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
		ConnState: func(c net.Conn, now http.ConnState) {
			b := boundBelow(c)
			if b == nil {
				return
			}
			if b.state(now); now == http.StateHijacked { // the bound on WebSocket connections holds from here
				b.proved()
			}
		},
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		direct := jsonrpc.NewDirect(few, server, o.Log)
		if o.Front != nil { // what is forwarded is streamed
			direct.Aside = o.Front.waits
		}
		err := server.Serve(direct)
		if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			o.Log.Error("an endpoint stopped", "address", l.Addr().String(), "error", err)
		}
	}()
	n.ends = append(n.ends, func() error {
		err := server.Close()
		<-stopped
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		return err
	})
}

// maxNodeHeader bounds the header of a request in bytes.
const maxNodeHeader = 32 << 10

// above is an address so many ports higher.
func above(address string, by int) string {
	host, port, _ := net.SplitHostPort(address)
	number, _ := strconv.Atoi(port)
	return net.JoinHostPort(host, strconv.Itoa(number+by))
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// CheckLocal returns ErrRemote for an address, host:port, that others could reach, unless they may.
func CheckLocal(ctx context.Context, address string, remote bool) error {
	_, err := loopbackOnly(ctx, address, remote)
	return err
}

// loopbackOnly turns an address into one without a name that only this machine reaches, unless others may.
func loopbackOnly(ctx context.Context, address string, remote bool) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || remote {
		return address, err
	}
	ip := net.ParseIP(host)
	if ip == nil && host != "" {
		found, err := new(net.Resolver).LookupIPAddr(ctx, host)
		if err != nil || len(found) == 0 {
			return "", fmt.Errorf("%w: %q cannot be looked up", ErrRemote, host)
		}
		for _, a := range found {
			if ip = a.IP; !ip.IsLoopback() {
				break
			}
		}
	}
	if !ip.IsLoopback() {
		return "", fmt.Errorf("%w: %s is none", ErrRemote, cmp.Or(host, "every address"))
	}
	return net.JoinHostPort(ip.String(), port), nil
}
