package pg

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// An AddressError says that an address of a database is not one that can be used. It never repeats the address.
type AddressError struct{ Problem, Hint string }

// Error returns the problem.
func (e *AddressError) Error() string { return e.Problem }

// passwordHint is where a password belongs.
const passwordHint = "leave the password out; it is read from the file that ?passfile=FILE names, else ~/.pgpass: " +
	"one line host:port:database:user:password, mode 0600. A pipe such as /dev/fd/3 will do"

// secrets are the parameters and variables that would carry a secret where others can read it.
func secrets() []string { return []string{"password", "sslpassword"} }

// IsAddress reports whether a text is meant as the address of a database of PostgreSQL.
func IsAddress(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// Address is an address that was read, with the password that belongs to it.
type Address struct {
	config *pgxpool.Config
	text   string
}

// ParseAddress reads an address, and the file that has its password, this once: it may be a pipe. What cannot be used
// is an *AddressError; a password in the address or in the environment is refused.
func ParseAddress(address string) (*Address, error) {
	config, err := parse(address, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return &Address{config, address}, nil
}

// String is the address as it was given; it has no password.
func (a *Address) String() string { return a.text }

// Shown is an address as a person may read it, without its parameters.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the database"
	}
	u.User, u.RawQuery, u.Fragment = url.User(u.User.Username()), "", ""
	return u.String()
}

// parse reads an address. A password in it, or in the environment, is refused.
func parse(address string, env func(string) (string, bool)) (*pgxpool.Config, error) {
	u, err := url.Parse(address)
	if err != nil || !IsAddress(address) {
		return nil, &AddressError{Problem: "the store is no address of a database of PostgreSQL",
			Hint: "write postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full"}
	}
	if _, has := u.User.Password(); has {
		return nil, &AddressError{Problem: "the address of the store has a password, which others can read now: " +
			"give the role another one", Hint: passwordHint}
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, &AddressError{Problem: "the parameters of the store's address cannot be read",
			Hint: "write ?NAME=VALUE&NAME=VALUE"}
	}
	for _, name := range secrets() {
		if q.Has(name) {
			return nil, &AddressError{Problem: "the address of the store has a " + name + ", which others can read " +
				"now: change it", Hint: passwordHint}
		}
	}
	for _, name := range []string{"PGPASSWORD", "PGSSLPASSWORD"} {
		if _, has := env(name); has {
			return nil, &AddressError{Problem: name + " is set, and programs of this user can read it",
				Hint: passwordHint}
		}
	}
	if err := checkPassfile(q.Get("passfile"), env); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, &AddressError{Problem: "the address of the store cannot be used: " + plain(err),
			Hint: "write postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full"}
	}
	if err := checkReach(config.ConnConfig); err != nil {
		return nil, err
	}
	settle(config)
	return config, nil
}

// plain is why an address was refused, without the address.
func plain(err error) string {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		if inner := errors.Unwrap(parse); inner != nil {
			err = inner
		}
	}
	if _, is := errors.AsType[*url.Error](err); is { // it repeats the address
		return "it is malformed"
	}
	return err.Error()
}

// checkPassfile refuses a file of passwords that others can read.
func checkPassfile(path string, env func(string) (string, bool)) error {
	if path == "" {
		path, _ = env("PGPASSFILE")
	}
	named := path != ""
	if !named {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		path = filepath.Join(home, ".pgpass")
	}
	info, err := os.Stat(path)
	switch {
	case err != nil && !named && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &AddressError{Problem: "the file of the store's password cannot be read: " + err.Error(),
			Hint: passwordHint}
	case info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0:
		return &AddressError{Problem: fmt.Sprintf("others can read %s, which has the store's password: its mode is %#o",
			path, info.Mode().Perm()), Hint: "chmod 600 " + strconv.Quote(path)}
	}
	return nil
}

// checkReach refuses to send the records over a network on which others can read or answer them: the service's own keys
// are among them.
func checkReach(c *pgx.ConnConfig) error {
	unknown := func(t *tls.Config) bool { return t == nil || t.InsecureSkipVerify && t.VerifyPeerCertificate == nil }
	hosts, plain := []string{c.Host}, unknown(c.TLSConfig)
	for _, f := range c.Fallbacks {
		hosts, plain = append(hosts, f.Host), plain || unknown(f.TLSConfig)
	}
	if plain && slices.ContainsFunc(hosts, func(h string) bool { return !local(h) }) {
		return &AddressError{Problem: "the store is on another machine, and its answers would not be those of a " +
			"known server: the service's own keys go over this line",
			Hint: "add sslmode=verify-full&sslrootcert=FILE to the address"}
	}
	return nil
}

// local reports whether a host is this machine: a socket, or a loopback address.
func local(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// maxName is the longest name of connections, in bytes: the server cuts at 63, and the process is named behind it.
const maxName = 32

// Bounds of what waits for the server.
const (
	connectWithin   = 3 * time.Second
	statementWithin = 20 * time.Second
	keepAlive       = 10 * time.Second
)

// settle sets what the service needs of its connections, whatever the address or the server says.
func settle(c *pgxpool.Config) {
	c.ConnConfig.ConnectTimeout = connectWithin
	dialer := net.Dialer{KeepAlive: keepAlive, Timeout: connectWithin}
	c.ConnConfig.DialFunc = dialer.DialContext
	elsewhere := func(f *pgconn.FallbackConfig) bool {
		return f.Host != c.ConnConfig.Host || f.Port != c.ConnConfig.Port
	}
	if c.ConnConfig.ValidateConnect == nil && slices.ContainsFunc(c.ConnConfig.Fallbacks, elsewhere) {
		c.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite // the one that is no standby
	}
	name := cmp.Or(c.ConnConfig.RuntimeParams["application_name"], "coffer")
	c.ConnConfig.RuntimeParams["application_name"] = name[:min(len(name), maxName)]
	for name, value := range map[string]string{
		"timezone": "UTC", "statement_timeout": millis(statementWithin + 5*time.Second),
		"lock_timeout": millis(statementWithin), "idle_in_transaction_session_timeout": millis(snapshotLasts),
		"default_transaction_isolation": "read committed", "tcp_keepalives_idle": "10",
		"tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
		// Each statement finds its records by their keys. A plan of when the table was small would read all of it.
		"enable_seqscan": "off", "jit": "off",
	} {
		c.ConnConfig.RuntimeParams[name] = value
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
