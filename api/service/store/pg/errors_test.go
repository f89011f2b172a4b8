package pg

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A pooler that was not told to ignore what a start sets refuses it with words of its own.
func TestAPoolerThatRefusesTheStartIsNamed(t *testing.T) {
	err := explain(&pgconn.PgError{Code: "08P01", Message: "unsupported startup parameter: jit"})
	if !errors.Is(err, ErrServer) || !errors.Is(err, errPooler) {
		t.Error(err)
	}
}
