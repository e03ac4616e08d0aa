package io.farheap.control;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * A control plane's address as people write it: {@code host:port}, {@code 192.0.2.7:7400} or
 * {@code [2001:db8::7]:7400}.
 *
 * @param host a name or an address, without brackets
 * @param port 0 to 65535; 0 lets a server choose
 */
public record HostPort(String host, int port) {

    /** @throws ControlException INVALID_ARGUMENT where {@code text} is not an address */
    public static HostPort parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            host = "";
        }
        int port = port(text.substring(colon + 1));
        if (host.isBlank() || port < 0) {
            throw new ControlException(
                    ControlException.Code.INVALID_ARGUMENT,
                    "\"" + text
                            + "\" is not HOST:PORT, such as 10.0.0.7:7400 or [2001:db8::7]:7400, with a port of 0 to 65535");
        }
        return new HostPort(host, port);
    }

    private static int port(String digits) {
        try {
            int port = Integer.parseInt(digits);
            return port > 65535 ? -1 : port;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** @throws ControlException UNAVAILABLE where the host has no address */
    public InetSocketAddress resolve() {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new ControlException(
                    ControlException.Code.UNAVAILABLE, "host \"" + host + "\" of " + this + " has no address", e);
        }
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
