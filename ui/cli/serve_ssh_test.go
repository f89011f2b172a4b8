package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestServeSSHFlags(t *testing.T) {
	p, _ := program(t)
	var got ServeOptions
	p.Serve = func(_ context.Context, o ServeOptions) error { got = o; return nil }
	args := []string{"serve", "--ssh", "0.0.0.0:2222", "--ssh-open", "--ssh-keys", "k", "--ssh-idle", "5m", "--ssh-max",
		"1h", "--ssh-sessions", "3", "--profile", "lab"}
	if err := p.Run(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	if want := (ServeSSH{Listen: "0.0.0.0:2222", Open: true, Keys: "k", Idle: 5 * time.Minute, Max: time.Hour,
		Sessions: 3, Profile: "lab"}); got.SSH != want {
		t.Errorf("got %+v", got.SSH)
	}
}

// The command refuses what it would ignore: a flag about SSH without --ssh, and one about a service where none runs.
func TestServeSSHRefusesWhatItWouldIgnore(t *testing.T) {
	p, _ := program(t)
	p.Serve = func(context.Context, ServeOptions) error { t.Error("it was served"); return nil }
	for _, args := range []string{
		"--ssh-open", "--ssh-keys k", "--ssh-idle 5m", "--ssh-max 1h", "--ssh-sessions 3", "--ssh=", "--ssh 127.0.0.1",
		"--ssh :ssh", "--ssh 127.0.0.1:0 --ssh-keys=",
		"--ssh 127.0.0.1:0 --ssh-idle 0s", "--ssh 127.0.0.1:0 --ssh-idle 25h", "--ssh 127.0.0.1:0 --ssh-max 200h",
		"--ssh 127.0.0.1:0 --ssh-sessions 0",
		"--ssh 127.0.0.1:0 --ssh-sessions 1025", "--ssh 127.0.0.1:0 --profile=", "--profile lab",
		"--ssh 127.0.0.1:0 --profile lab --listen 127.0.0.1:0", "--ssh 127.0.0.1:0 --profile lab --host a",
		"--ssh 127.0.0.1:0 --profile lab --fund never",
		"--ssh 127.0.0.1:0 --profile lab --fault revert", "--ssh 127.0.0.1:0 --profile lab --lifetime 5s",
		"--ssh 127.0.0.1:0 --profile lab --metrics 127.0.0.1:0",
		"--ssh 127.0.0.1:0 --profile lab --base-path /x", "--ssh 127.0.0.1:0 --profile lab --max-connections 9",
		"--ssh 127.0.0.1:0 --profile lab --cursor-lifetime 5m",
	} {
		if err := p.Run(t.Context(), append([]string{"serve"}, strings.Fields(args)...)); Code(err) != ExitUsage {
			t.Errorf("%s: code %d, %v", args, Code(err), err)
		}
	}
}

func TestSSHIsAnnouncedForPeopleAndForMachines(t *testing.T) {
	r := SSHReach{Address: "127.0.0.1:2222", HostKey: "ssh-ed25519 AAAA", Fingerprint: "SHA256:x",
		KeysFile: "/d/ssh/authorized_keys", Keys: 1, Profile: "lab"}
	var out bytes.Buffer
	if err := r.Announce(&out, true); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("%v, %q", err, &out)
	}
	var got struct{ SSH SSHReach }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.SSH != r {
		t.Errorf("%v, %+v", err, got)
	}
	out.Reset()
	if err := r.Announce(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ssh -p 2222 127.0.0.1", "host key SHA256:x", "1 key in /d/ssh/authorized_keys",
		"profile lab, read only"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
	r.Address, r.Keys = "[::]:2222", 2
	if text := strings.Join(r.Lines(), "\n"); !strings.Contains(text, "ssh -p 2222 HOST") ||
		!strings.Contains(text, "2 keys in") {
		t.Errorf("%s", text)
	}
}
