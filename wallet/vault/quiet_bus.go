//go:build linux || freebsd || netbsd || openbsd || dragonfly

package vault

import (
	"errors"
	"fmt"
	"slices"

	"github.com/godbus/dbus/v5"
)

// The names of the Secret Service, and the collection that the keyring library uses: "login", or else the default one.
const (
	secretsName  = "org.freedesktop.secrets"
	secretsPath  = "/org/freedesktop/secrets"
	loginPath    = secretsPath + "/collection/login"
	aliasPath    = secretsPath + "/aliases/default"
	collectionIs = "org.freedesktop.Secret.Collection"
	itemIs       = "org.freedesktop.Secret.Item"
)

// asking is how a keyring is looked at; nil where the system itself asks nobody in a session over SSH.
func asking() func(service, user string) error { return openKeyring }

// openKeyring fails unless a Secret Service runs, its collection is open, and so is the item if there is one. It starts
// no message bus and no service, unlocks nothing and asks nothing that could raise a question.
func openKeyring(service, user string) error {
	conn, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err = conn.Auth(nil); err == nil {
		err = conn.Hello()
	}
	if err != nil {
		return err
	}
	var runs bool
	if err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, secretsName).Store(&runs); err != nil {
		return err
	}
	if !runs {
		return errors.New("org.freedesktop.DBus.Error.NameHasNoOwner: no Secret Service runs")
	}
	at := dbus.ObjectPath(aliasPath)
	var all []dbus.ObjectPath
	if err := property(conn, secretsPath, "org.freedesktop.Secret.Service", "Collections", &all); err != nil {
		return err
	}
	if slices.Contains(all, loginPath) {
		at = loginPath
	}
	if err := unlocked(conn, at, collectionIs); err != nil {
		return err
	}
	var items []dbus.ObjectPath
	attributes := map[string]string{"username": user, "service": service}
	if err := conn.Object(secretsName, at).Call(collectionIs+".SearchItems", dbus.FlagNoAutoStart,
		attributes).Store(&items); err != nil {
		return err
	}
	for _, item := range items {
		if err := unlocked(conn, item, itemIs); err != nil {
			return err
		}
	}
	return nil
}

// unlocked fails when an object is locked or is not there.
func unlocked(conn *dbus.Conn, at dbus.ObjectPath, kind string) error {
	locked := true
	var refused dbus.Error
	switch err := property(conn, at, kind, "Locked", &locked); {
	case errors.As(err, &refused):
		return fmt.Errorf("%w (%s)", errAsks, refused.Name)
	case err != nil:
		return err
	case locked:
		return errAsks
	}
	return nil
}

// property reads a property; a value of another type is an error.
func property(conn *dbus.Conn, at dbus.ObjectPath, kind, name string, into any) error {
	var v dbus.Variant
	if err := conn.Object(secretsName, at).Call("org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, kind,
		name).Store(&v); err != nil {
		return err
	}
	return v.Store(into)
}
