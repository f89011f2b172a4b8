package present

import (
	"context"
	"errors"
	"net"

	"coffer/api"
)

// ErrorText turns an error of a service call into one plain sentence without a final stop: what happened, as far as it
// is known.
func ErrorText(err error) string {
	var refused *api.Error
	var network net.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return refusedWords(refused)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "the service did not answer in time"
	case errors.As(err, &network):
		return "the service cannot be reached: " + Clean(err.Error(), 160)
	}
	return Clean(err.Error(), 200)
}

func refusedWords(e *api.Error) string {
	switch e.Name {
	case api.ErrUnauthorized, api.ErrForbidden:
		return "the service refused the API key"
	case api.ErrTooManyRequests:
		return "the service asks for fewer requests"
	case api.ErrInternal, api.ErrUnavailable:
		return "the service failed: " + Clean(e.Message, 160)
	}
	return "the service refused: " + Clean(e.Message, 160)
}
