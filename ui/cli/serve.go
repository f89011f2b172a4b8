package cli

import (
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// ServeOptions are the flags of `coffer serve`.
type ServeOptions struct {
	Listen         string        // host:port; port 0 takes a free one
	Data           string        // data directory
	Store          string        // address of a database of PostgreSQL, "" for a file in the data directory
	Replica        bool          // other processes may have it as well
	Advertise      string        // URL by which other processes of the database reach this one, "" for that of Listen
	New            bool          // begin a new network; existing data is moved aside
	Networks       string        // the network file of an operator, "" for chains inside the service
	Keys           string        // the file with an operator's keys, "" for keys in the data directory
	Anyone         bool          // serve every account with real money
	JSON           bool          // print one line of JSON once the port accepts
	Hosts          []string      // further host names of the certificate
	Fund           bool          // give test funds to new addresses
	FundLimit      int           // new addresses funded through one key in 24 hours
	Private        bool          // only the project of the key that made them sees quotes and history
	Faults         []string      // the faults that the service brings about
	Lifetime       time.Duration // of quotes
	CursorLifetime time.Duration // of continuations of history
	Metrics        string        // host:port of the metrics listener, "" for none
	Connections    int           // open at once, on the open port
	BasePath       string
	LogJSON        bool
	LogLevel       slog.Level
	RPC            string   // host:port of the endpoints of the chains, "" for none
	RPCOpen        bool     // other machines may reach it
	RPCCORS        []string // origins of web pages that may call them
	SSH            ServeSSH
}

// Bounds of the lifetimes. A quote cannot outlive the window of its prepared operation.
const (
	minLifetime       = time.Second
	maxLifetime       = 10 * time.Minute
	maxCursorLifetime = 24 * time.Hour
)

// Bounds of --max-connections.
const (
	defaultConnections = 1024
	minConnections     = 4
	maxConnections     = 65536
)

// Bounds of --fund-limit.
const (
	defaultFundLimit = 100
	maxFundLimit     = 10_000
)

// words are the flags whose text selects another value.
type words struct{ fund, format, level string }

func (p Program) serve(g *Global) *cobra.Command {
	var o ServeOptions
	w := words{fund: "always", format: "text", level: "info"}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service for a team over HTTPS",
		Long: `Runs the service with its own chains, kept in the data directory. The certificate is signed by a
certificate authority that is kept there too; give its file to the wallets. Without --networks the service is a lab:
play money. It stops cleanly on an interrupt or a termination signal: requests under way are finished first, for
10 seconds at most. A second one ends it at once; nothing is lost by that, as the next start finishes or refunds what
was under way.

Requests are admitted by the keys that ` + "`coffer serve keys`" + ` makes. While there is none, it prints a key
that is valid for this process only.

With --networks a network file with a table [operator] says which chains it serves and where their nodes are, and
payments between them come from the inventory in the operator's contract (docs/networks.md). Until the file and the
contract know the service's keys, it says which they are, and ends. With --keys its keys are in a file that a
passphrase guards; real money demands that.

With --store the records are in a database of PostgreSQL instead of a file in the data directory; certificate,
network.json and local socket stay in the directory. The address has no password: a file has it, ~/.pgpass or the one of
?passfile=FILE. With --replica as well, several processes may have the same database. Those of an operator all serve. Of
those with their own chains one serves, and the others forward to it what they are asked, until one of them takes its
place (docs/postgresql.md).

With --ssh it also shows the dashboard to everyone in an authorized-keys file who connects with an SSH client: nothing
to install. Each key has its own account, with a signer that signs for nothing else. With --ssh and --profile
no service runs here: the dashboards are about the remote service of that profile, read only, with its API key and no
key to sign with.`,
		Example: `  coffer serve --listen 127.0.0.1:8443 --data ./lab
  coffer serve --listen 0.0.0.0:8443 --host wallet.example --json --log-format json --metrics 127.0.0.1:9464
  coffer serve --fault slow-fill=2s --fault revert@0.25
  coffer serve --rpc 127.0.0.1:8545
  coffer serve --networks networks.toml
  coffer serve --store 'postgres://coffer@db.example:5432/coffer?sslmode=verify-full&sslrootcert=db-ca.pem'
  coffer serve --ssh 127.0.0.1:2222 --ssh-keys team.pub
  coffer serve --ssh 0.0.0.0:2222 --ssh-open --profile lab`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { // also of the commands below
			if cmd.Flags().Changed("profile") && !cmd.Flags().Changed("ssh") {
				return &UsageError{Problem: "a service has no profile", Hint: "--data names its data directory"}
			}
			if cmd.Flags().Lookup("data") == nil { // an import has none
				return nil
			}
			return notEmpty(cmd, "data")
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "host", "fault", "metrics", "rpc", "rpc-cors", "networks", "store",
				"keys", "advertise"); err != nil {
				return err
			}
			if o.Networks == "" && (o.Keys != "" || o.Anyone) {
				return &UsageError{Problem: "--keys and --serve-anyone-with-real-money are about an operator's network",
					Hint: "--networks names its file"}
			}
			if o.Replica && o.Store == "" {
				return &UsageError{Problem: "--replica is for a database of PostgreSQL, and none is named",
					Hint: "give its address with --store"}
			}
			if o.Advertise != "" && o.Store == "" {
				return &UsageError{Problem: "--advertise is for other processes of the same database of " +
					"PostgreSQL, and none is named", Hint: "give its address with --store"}
			}
			if o.RPC == "" && (o.RPCOpen || o.RPCCORS != nil) {
				return &UsageError{Problem: "--rpc-open and --rpc-cors are about --rpc, which is not there",
					Hint: "give an address as well, such as --rpc 127.0.0.1:8545"}
			}
			if err := o.settle(w); err != nil {
				return err
			}
			if err := o.SSH.settle(cmd, g.Profile); err != nil {
				return err
			}
			if o.New && o.Store != "" {
				return &UsageError{Problem: "--new moves a file aside, and with --store there is none",
					Hint: "a new network begins in an empty database"}
			}
			if o.New && o.SSH.Profile != "" {
				return &UsageError{Problem: "no service runs here with --profile, so there is no network to begin",
					Hint: "leave out --new"}
			}
			return p.Serve(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:8443", "where to listen, as `HOST:PORT`; port 0 takes a free one")
	f.StringVar(&o.Data, "data", "",
		"data `directory`, made when it is not there (default: below the user's data directory)")
	f.BoolVar(&o.New, "new", false, "begin a new network: database and network.json of the data directory are moved "+
		"aside into a directory there, never deleted; the stored API keys go with them. Once, by hand: never in a "+
		"service file")
	f.StringVar(&o.Store, "store", "", "keep the records in the database of PostgreSQL at this `ADDRESS` "+
		"(default: a file in the data directory)")
	f.BoolVar(&o.Replica, "replica", false, "let other processes have the database of --store too: with --networks "+
		"all of them serve,\nelse one does and the others forward to it")
	f.StringVar(&o.Advertise, "advertise", "", "the `URL` by which other processes of the database reach this one, "+
		"such as https://10.0.0.1:8443 (default: the address\nof --listen)")
	f.StringVar(&o.Networks, "networks", "", "the network `FILE` of chains behind nodes, with a table [operator] "+
		"(default: the service has its own chains)")
	f.StringVar(&o.Keys, "keys", "", "the `FILE` with an operator's keys, which a passphrase guards, made when it is "+
		"not there (default: they are in the data\ndirectory, in the clear, which real money does not allow)")
	f.BoolVar(&o.Anyone, "serve-anyone-with-real-money", false, "serve every account, as accounts = \"any\" says, "+
		"where real money is at stake")
	f.BoolVar(&o.JSON, "json", false,
		"print one line of JSON with address, CA file, key and network file once the port accepts")
	f.StringSliceVar(&o.Hosts, "host", nil,
		"further host `name` or address that clients use, for the certificate; may be given several times")
	f.StringVar(&w.fund, "fund", w.fund,
		"test funds for addresses that are named the first time by a key that may quote: `always or never`")
	f.IntVar(&o.FundLimit, "fund-limit", defaultFundLimit, "the `number` of new addresses that get test funds "+
		"through one API key in any 24 hours, up to 10000; a key with\nits own number has that")
	f.BoolVar(&o.Private, "private", false, "show quotes, their status and history only to keys of the company and "+
		"project that made them, and explorer pages only to\nkeys that may read")
	f.StringArrayVar(&o.Faults, "fault", nil, p.faultUsage())
	f.DurationVar(&o.Lifetime, "lifetime", time.Minute, "how long a quote may be accepted, 1s to 10m")
	f.DurationVar(&o.CursorLifetime, "cursor-lifetime", 15*time.Minute,
		"how long a continuation of history (the token of the next page) stays valid, 1s to 24h")
	f.StringVar(&o.Metrics, "metrics", "",
		"answer with Prometheus metrics at this loopback `HOST:PORT`, such as 127.0.0.1:9464 (default: no metrics)")
	f.StringVar(&o.RPC, "rpc", "", "open an endpoint for every chain as well, JSON-RPC over HTTP and WebSocket, at "+
		"this `HOST:PORT`, such as 127.0.0.1:8545")
	f.BoolVar(&o.RPCOpen, "rpc-open", false, "let others than this machine reach the address of --rpc")
	f.StringSliceVar(&o.RPCCORS, "rpc-cors", nil, "let web pages of this `ORIGIN` call the endpoints, * for all; may "+
		"be given several times (default: none)")
	f.StringVar(&o.BasePath, "base-path", "/api", "`path` in front of every endpoint")
	f.IntVar(&o.Connections, "max-connections", defaultConnections,
		"connections open at once; one address may have a quarter of this `number`")
	f.StringVar(&w.format, "log-format", w.format, "form of the log on standard error: `text or json`")
	f.StringVar(&w.level, "log-level", w.level, "the least that is logged: `debug, info, warn or error`")
	o.SSH.flags(cmd)
	cmd.AddCommand(p.keys(), p.checkStore(), p.backupStore(), p.exportStore(), p.importStore())
	return Passing(cmd, p.Terminal)
}

// faultUsage describes --fault with every existing fault.
func (p Program) faultUsage() string {
	usage := "make the service fail on purpose, for developers, as `name[=value][@share]`; may be given several " +
		"times. A share is a\npart such as 0.25, or N for every N-th quote"
	if len(p.FaultHelp) > 0 {
		usage += ". Faults:\n  " + strings.Join(p.FaultHelp, "\n  ")
	}
	return usage + "\n"
}

// settle reads the words and checks what needs no service.
func (o *ServeOptions) settle(w words) error {
	switch w.fund {
	case "always":
		o.Fund = true
	case "never":
	default:
		return &UsageError{Problem: "--fund takes always or never"}
	}
	if o.FundLimit < 1 || o.FundLimit > maxFundLimit {
		return &UsageError{Problem: fmt.Sprintf("--fund-limit takes 1 to %d", maxFundLimit),
			Hint: "to give no test funds at all, use --fund never"}
	}
	var err error
	if o.LogJSON, o.LogLevel, err = w.log(); err != nil {
		return err
	}
	if o.Lifetime < minLifetime || o.Lifetime > maxLifetime {
		return &UsageError{Problem: "--lifetime takes 1s to 10m"}
	}
	if o.CursorLifetime < minLifetime || o.CursorLifetime > maxCursorLifetime {
		return &UsageError{Problem: "--cursor-lifetime takes 1s to 24h"}
	}
	return o.settlePort()
}

// log reads what is said of the log.
func (w words) log() (asJSON bool, level slog.Level, err error) {
	switch w.format {
	case "json", "text":
	default:
		return false, 0, &UsageError{Problem: "--log-format takes text or json"}
	}
	switch w.level {
	case "debug", "info", "warn", "error":
		err = level.UnmarshalText([]byte(w.level))
	default:
		err = &UsageError{Problem: "--log-level takes debug, info, warn or error"}
	}
	return w.format == "json", level, err
}

// settlePort checks the values for a listener and its certificate.
func (o *ServeOptions) settlePort() error {
	if !isHostPort(o.Listen) {
		return &UsageError{Problem: "--listen takes an address and a port from 0 to 65535, such as 127.0.0.1:8443"}
	}
	if o.RPC != "" && !isHostPort(o.RPC) {
		return &UsageError{Problem: "--rpc takes an address and a port from 0 to 65535, such as 127.0.0.1:8545"}
	}
	if err := checkNames(o.Hosts, o.RPCCORS); err != nil {
		return err
	}
	if !isBasePath(o.BasePath) {
		return &UsageError{Problem: "--base-path takes a path such as /api: a slash in front, none at the end; " +
			"letters, digits, - and _ between"}
	}
	if o.Connections < minConnections || o.Connections > maxConnections {
		return &UsageError{Problem: fmt.Sprintf("--max-connections takes %d to %d", minConnections, maxConnections)}
	}
	return nil
}

func isHostPort(s string) bool {
	_, port, err := net.SplitHostPort(s)
	_, number := strconv.ParseUint(port, 10, 16)
	return err == nil && number == nil
}

// isHost reports whether s is a name or an address, without a port.
func isHost(s string) bool { return net.ParseIP(s) != nil || isHostName(s) }

// isHostName reports whether a certificate can name s: labels of letters, digits, - and _, the first of them possibly
// *.
func isHostName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for _, label := range strings.Split(strings.TrimPrefix(s, "*."), ".") {
		if label == "" || len(label) > 63 || !isPlain(label) {
			return false
		}
	}
	return true
}

// isBasePath reports whether each part of a path reads the same for every client, escaped or not.
func isBasePath(s string) bool {
	parts := strings.Split(s, "/")
	return len(parts) > 1 && parts[0] == "" && !slices.ContainsFunc(parts[1:],
		func(p string) bool { return p == "" || !isPlain(p) })
}

func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// notEmpty refuses flags that were given without a value: an unset variable of a script must not mean the default, or
// everything.
func notEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		if v := f.Value.String(); f.Changed && (v == "" || v == "[]" || v == `[""]`) {
			return Misused(cmd, "--%s was given without a value", name)
		}
	}
	return nil
}
