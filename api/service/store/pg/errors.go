package pg

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"coffer/api/service/store"
)

// Conditions of the server that the service tells apart (SQLSTATE).
const (
	diskFull          = "53100"
	tooManyConns      = "53300"
	badPassword       = "28P01"
	badRole           = "28000"
	noDatabase        = "3D000"
	notAllowed        = "42501"
	readOnly          = "25006"
	idleTooLong       = "25P03"
	adminShutdown     = "57P01"
	crashShutdown     = "57P02"
	cannotConnectNow  = "57P03"
	canceled          = "57014"
	lockNotAvailable  = "55P03"
	undefinedTable    = "42P01"
	ioError           = "58030"
	dataCorrupted     = "XX001"
	indexCorrupted    = "XX002"
	undefinedFunction = "42883"
	protocolViolation = "08P01"
)

// Errors of Open that are no fault of the line. What to do is a part of their text.
var (
	// ErrServer says that the server is not one that the service can keep its records in.
	ErrServer = errors.New("this server cannot keep the service's records")
	// ErrRole says that the role may not do what the service has to.
	ErrRole = errors.New("the role of the store's address may not do this")
	// ErrTaken says that another process serves from the database now. What this one has in memory is out of date.
	ErrTaken error = lostError("another process has taken over the database: this one writes nothing more; end it")
)

// lostError says why this process has the database no longer. It wraps store.ErrAway: who asks this process is to ask
// again, and is answered by the one that serves then.
type lostError string

// Error implements error.
func (e lostError) Error() string { return string(e) }

// Unwrap returns store.ErrAway.
func (lostError) Unwrap() error { return store.ErrAway }

// explain wraps an error of the driver with what it means and what to do. One that is nil stays so.
func explain(err error) error {
	if err == nil {
		return nil
	}
	server, is := errors.AsType[*pgconn.PgError](err)
	if !is {
		return fmt.Errorf("%w: %w", store.ErrAway, err) // of the line: a connection that broke has many texts
	}
	switch server.Code {
	case diskFull:
		return fmt.Errorf("%w, that of the database server: make room there: %w", store.ErrFull, err)
	case badPassword, badRole:
		return fmt.Errorf("%w: the server does not let it in; its password is the line of this host, database and "+
			"role in the file of ?passfile=FILE or ~/.pgpass: %w", ErrRole, err)
	case noDatabase:
		return fmt.Errorf("%w: there is no such database; make one: createdb --owner ROLE DATABASE: %w", ErrServer, err)
	case notAllowed:
		return fmt.Errorf("%w: make it the owner of the database, or give it one of its own: "+
			"createdb --owner ROLE DATABASE: %w", ErrRole, err)
	case undefinedFunction:
		return fmt.Errorf("%w: it speaks the protocol of PostgreSQL and lacks a function that is needed: %w", ErrServer,
			err)
	case protocolViolation: // a server knows the parameters of a start, a pooler does not
		return fmt.Errorf("%w: %w: %w", ErrServer, errPooler, err)
	case readOnly:
		return fmt.Errorf("%w: it only reads, as a standby does: name the primary server: %w", ErrServer, err)
	case dataCorrupted, indexCorrupted, ioError:
		return fmt.Errorf("%w: the server cannot read what it has: restore a backup: %w", store.ErrDamaged, err)
	case tooManyConns:
		return fmt.Errorf("%w: the server has no connection left; raise max_connections there: %w", store.ErrAway, err)
	case idleTooLong:
		return fmt.Errorf("%w: a view or a write was held open too long: %w", store.ErrAway, err)
	case adminShutdown, crashShutdown, cannotConnectNow, canceled, lockNotAvailable:
		return fmt.Errorf("%w: %w", store.ErrAway, err)
	}
	return fmt.Errorf("the database server refuses a statement: %w", err)
}
