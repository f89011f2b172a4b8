package vault

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// State is what is the matter with a keyring.
type State string

// The states of a keyring that did not do what it was asked (TH-KR2).
const (
	StateNoBus     State = "absent-bus" // no message bus, so nothing can be asked
	StateStaleBus  State = "stale-bus"  // the address of a bus that has ended
	StateNoService State = "no-service" // a bus, but no program that keeps secrets
	StateLocked    State = "locked"     // also after a wrong password: the systems do not tell them apart
	StateDenied    State = "denied"     // the system or the person refused
	StateMute      State = "mute"       // no answer within the deadline
	StateTooBig    State = "too-big"    // more than an item holds
	StateNotFound  State = "not-found"  // it works, but has no such item
	StateFailed    State = "failed"     // anything else
)

// KeyringError says what is the matter with the keyring and what to do about it. Whatever the state, nothing was stored
// anywhere else (TH-KR3).
type KeyringError struct {
	State  State
	Advice string // one or two sentences in plain words
	what   string
	cause  error
}

// Error returns what was tried, what is the matter and what to do.
func (e *KeyringError) Error() string {
	return fmt.Sprintf("keyring: could not %s: %s. %s", e.what, words(e.State, e.cause), e.Advice)
}

// Unwrap returns the keyring's own error.
func (e *KeyringError) Unwrap() error { return e.cause }

func isState(err error, state State) bool {
	var k *KeyringError
	return errors.As(err, &k) && k.State == state
}

// sign is a text in the error of a keyring, and what it means.
type sign struct {
	state State
	text  string
}

// signs are the texts by which the errors of the keyring library are told apart, measured and documented ones (TH-KR2);
// the first that is found decides. goos "" is any system but macOS, whose tool only answers with an exit status: the
// lowest byte of the system's error number.
func signs(goos string) []sign {
	if goos == "darwin" {
		return []sign{
			{StateNotFound, "exit status 44"},          // errSecItemNotFound
			{StateLocked, "exit status 36"},            // errSecInteractionNotAllowed: locked, and nobody can be asked
			{StateDenied, "exit status 51"},            // errSecAuthFailed
			{StateDenied, "exit status 128"},           // userCanceledErr
			{StateNoService, "exit status 50"},         // errSecNoSuchKeychain
			{StateNoService, "exit status 37"},         // errSecNoDefaultKeychain
			{StateNoService, "/usr/bin/security: no "}, // the tool is not there
		}
	}
	return []sign{
		{StateLocked, "failed to unlock correct collection"},
		{StateLocked, "org.freedesktop.Secret.Error.IsLocked"},
		{StateLocked, "Cannot create an item in a locked collection"},
		{StateNoService, "ServiceUnknown"},
		{StateNoService, "was not provided by any .service files"},
		{StateNoService, "NameHasNoOwner"},
		{StateNoService, "org.freedesktop.DBus.Error.Spawn"},
		{StateNoService, "does not exist at path"},
		{StateNoService, "No such interface"},
		{StateMute, "org.freedesktop.DBus.Error.NoReply"},
		{StateMute, "org.freedesktop.DBus.Error.TimedOut"},
		{StateDenied, "AccessDenied"},
		{StateDenied, "dbus: authentication failed"},
		{StateDenied, "permission denied"},
		{StateStaleBus, "dial unix"},
		{StateStaleBus, "dial tcp"},
		{StateStaleBus, "connection closed"},
		{StateStaleBus, "closed network connection"},
		{StateStaleBus, "connection reset by peer"},
		{StateStaleBus, "broken pipe"},
		{StateStaleBus, "EOF"},
		{StateNoBus, "dbus-launch"},
		{StateNoBus, "couldn't determine address of session bus"},
		{StateNoBus, "invalid bus address"},
		{StateNoBus, "exit status"}, // of dbus-launch, which found no display
		// Windows Credential Manager.
		{StateNoService, "A specified logon session does not exist"}, // 1312: a network logon, as over SSH
		{StateDenied, "Access is denied"},                            // 5
		{StateTooBig, "The stub received bad data"},                  // 1783
		{StateNotFound, "Element not found"},                         // 1168
	}
}

// Classify tells the state of a keyring from the error that its library answered with on the operating system goos.
func Classify(err error, goos string) State {
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return StateNotFound
	case errors.Is(err, keyring.ErrSetDataTooBig), errors.Is(err, errTooBig):
		return StateTooBig
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return StateNoService
	case errors.Is(err, errMute):
		return StateMute
	case errors.Is(err, errAsks):
		return StateLocked
	case err == nil:
		return StateFailed
	}
	for _, s := range signs(goos) {
		if strings.Contains(err.Error(), s.text) {
			return s.state
		}
	}
	return StateFailed
}

func words(state State, cause error) string {
	switch state {
	case StateNoBus:
		return "there is no D-Bus session"
	case StateStaleBus:
		return "the D-Bus session at this address has ended"
	case StateNoService:
		return "no program here keeps secrets"
	case StateLocked:
		return "it is locked, or its password was wrong"
	case StateDenied:
		return "it refused"
	case StateMute:
		return "it did not answer in time"
	case StateTooBig:
		return "the item is too big"
	case StateNotFound:
		return "it has no such item"
	}
	return fmt.Sprint(cause)
}

// advice says what to do. Nothing in it happens by itself.
func advice(state State, ssh bool, limit time.Duration) string {
	if ssh {
		switch state {
		case StateNoBus, StateStaleBus, StateNoService, StateLocked, StateMute:
			return "This is an SSH session, which the keyring of the desktop does not serve: set the profile up with " +
				"the encrypted file (vault = \"file\"), " +
				"or start and unlock a keyring inside this session."
		}
	}
	const file = "or set the profile up with the encrypted file (vault = \"file\")."
	switch state {
	case StateNoBus:
		return "Run this inside a desktop session, " + file
	case StateStaleBus:
		return "DBUS_SESSION_BUS_ADDRESS names a session that is gone, which happens in an old tmux or screen: open " +
			"a new terminal, " + file
	case StateNoService:
		return "Start gnome-keyring, KWallet or another program for the system's keyring, " + file
	case StateLocked:
		return "Unlock the keyring with its password, in the desktop's password manager, and try again; nothing was " +
			"stored anywhere else."
	case StateDenied:
		return "Allow this program to use the keyring, and try again; nothing was stored anywhere else."
	case StateMute:
		return fmt.Sprintf("It had %s. Look for a question that waits on the desktop, or restart the keyring, and "+
			"try again; nothing was stored anywhere else.", limit)
	case StateTooBig:
		return fmt.Sprintf("An item holds at most %d bytes.", maxValue)
	case StateNotFound:
		return "Check the profile and its network; a key that was deleted from the keyring comes back from a backup."
	}
	return "Look at the keyring with the system's own tool, " + file
}
