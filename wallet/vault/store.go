package vault

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// errNone says that a store has nothing under a name.
var errNone = errors.New("nothing is stored under this name")

// store keeps texts of at most maxValue bytes under names. put replaces, remove of an absent name is no error, get of
// one is errNone.
type store interface {
	get(ctx context.Context, name string) ([]byte, error)
	put(ctx context.Context, name string, value []byte) error
	remove(ctx context.Context, name string) error
	// drop removes all names, in their order, and whatever else the store itself keeps.
	drop(ctx context.Context, names []string) error
	// exclusive keeps other processes from changing the store until release is called, where the store can.
	exclusive(ctx context.Context) (release func(), err error)
}

// probe writes a random value under a random name, reads it back and deletes it (TH-KR2).
func probe(ctx context.Context, s store, random io.Reader) error {
	drawn := make([]byte, 2*nameSize)
	if _, err := io.ReadFull(random, drawn); err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	name, value := "probe-"+hex.EncodeToString(drawn[:nameSize]), []byte(hex.EncodeToString(drawn[nameSize:]))
	if err := s.put(ctx, name, value); err != nil {
		return err
	}
	got, err := s.get(ctx, name)
	if err == nil && !bytes.Equal(got, value) {
		err = fmt.Errorf("%w: it answered with another value than it was given", ErrDamaged)
	}
	return errors.Join(err, s.remove(ctx, name))
}

// ringStore keeps each record as an item of its own in a keyring.
type ringStore struct {
	calls   *caller
	service string
	lock    *dirLock // nil where no directory was given
}

func (r *ringStore) get(ctx context.Context, name string) ([]byte, error) {
	value, err := r.calls.get(ctx, r.service, name)
	switch {
	case isState(err, StateNotFound):
		return nil, errNone
	case err != nil:
		return nil, err
	case len(value) > maxValue:
		clear(value)
		return nil, ErrDamaged
	}
	return value, nil
}

func (r *ringStore) put(ctx context.Context, name string, value []byte) error {
	return r.calls.set(ctx, r.service, name, value)
}

func (r *ringStore) remove(ctx context.Context, name string) error {
	return r.calls.remove(ctx, r.service, name)
}

func (r *ringStore) drop(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := r.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (r *ringStore) exclusive(ctx context.Context) (func(), error) {
	if r.lock == nil {
		return func() {}, nil
	}
	return r.lock.hold(ctx)
}
