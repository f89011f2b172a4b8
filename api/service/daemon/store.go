package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"coffer/api/service"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
	"coffer/api/text"
)

// Check reads the whole database of a data directory, or a file such as a backup when one is named, prints what it
// found, and changes nothing. Damage is an error that wraps store.ErrDamaged. A database that a service holds is not
// read.
func Check(dir, file string, out io.Writer) error {
	path := file
	if path == "" {
		if err := service.InFile(dir); err != nil {
			return err
		}
		path = filepath.Join(dir, service.DatabaseFile)
	}
	r, err := store.CheckFile(path)
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("%w; a running service is checked by a copy: "+
			"`coffer serve backup FILE`, then `coffer serve check FILE`", err)
	}
	if err != nil {
		return err
	}
	if err := printReport(out, path, r); err != nil {
		return err
	}
	if r.Damages > 0 {
		return fmt.Errorf("%w: %d of %d records in %s are not what was written", store.ErrDamaged, r.Damages, r.Records,
			path)
	}
	return nil
}

// Backup writes a copy of the database of a data directory to a new file, and prints what is in it.
func Backup(ctx context.Context, dir, file string, out io.Writer) error {
	r, err := service.BackUp(ctx, dir, file)
	if err != nil {
		return err
	}
	if err := printReport(out, file, r); err != nil {
		return err
	}
	if r.Damages > 0 {
		return fmt.Errorf("%w: the copy was made, and %d of its %d records are not what was written",
			store.ErrDamaged, r.Damages, r.Records)
	}
	return nil
}

// maxLine bounds a line about a record, in characters.
const maxLine = 300

func printReport(out io.Writer, path string, r store.Report) error {
	lines := []string{fmt.Sprintf("%s: %d records, %d bytes", path, r.Records, r.Bytes)}
	for _, note := range r.Notes {
		lines = append(lines, "note     "+note)
	}
	for _, damage := range r.Damaged {
		lines = append(lines, "damaged  "+damage.Error())
	}
	if more := r.Damages - len(r.Damaged); more > 0 {
		lines = append(lines, fmt.Sprintf("damaged  %d more", more))
	}
	if r.Damages == 0 {
		lines = append(lines, "all pages and records are good")
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(out, text.Clean(l, maxLine)); err != nil {
			return err
		}
	}
	return nil
}

// Export writes the records of a database of PostgreSQL, that of a data directory unless one is named, to a new file,
// and prints their sum.
func Export(ctx context.Context, dir string, from *pg.Address, file string, out io.Writer) (err error) {
	if from == nil {
		if from, err = service.ExportAddress(dir); err != nil {
			return err
		}
	}
	sum, err := service.Export(ctx, from, file)
	if err != nil {
		return err
	}
	return printSum(out, file, sum)
}

// Import copies the records of a database file into an empty database of PostgreSQL, and prints their sum.
func Import(ctx context.Context, file string, to *pg.Address, out io.Writer) error {
	sum, err := service.Import(ctx, file, to)
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("%w; stop the service first, or import a backup", err)
	}
	if err != nil {
		return err
	}
	return printSum(out, pg.Shown(to.String()), sum)
}

func printSum(out io.Writer, where string, sum *store.Sum) error {
	_, err := fmt.Fprintf(out, "%s: %d records, %d bytes, sha256 %s, read back and compared\n",
		text.Clean(where, maxLine), sum.Records, sum.Bytes, sum.Hex())
	return err
}
