package daemon

import (
	"context"
	"fmt"
	"io"
	"time"

	"coffer/api/networks"
	"coffer/api/service"
)

// StatusOptions say of which operator's network the status is printed: Networks is its file, Dir the data directory of
// its service. Credential finds what an endpoint of the file names as ${vault:NAME}; while the service runs it is not
// asked.
type StatusOptions struct {
	Dir, Networks string
	Credential    networks.Credential
	JSON          bool
	Out           io.Writer
}

// Status prints how the network of an operator is, as service.ReadStatus finds it.
func Status(ctx context.Context, o StatusOptions) error {
	s, err := service.ReadStatus(ctx, service.Options{Dir: o.Dir, Networks: o.Networks, Credential: o.Credential,
		Clock: time.Now})
	if err != nil {
		return err
	}
	if !o.JSON {
		return s.Print(o.Out)
	}
	line, err := s.Encode()
	if err == nil {
		_, err = fmt.Fprintf(o.Out, "%s\n", line)
	}
	return err
}
