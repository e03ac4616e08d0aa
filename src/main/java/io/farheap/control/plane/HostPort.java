package io.farheap.control.plane;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.time.TimeLimit;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/**
 * A control plane's address as people write it: {@code host:port}, {@code 192.0.2.7:7400} or
 * {@code [2001:db8::7]:7400}.
 *
 * @param host a name or an address, without brackets
 * @param port 0 to 65535; 0 lets a server choose
 */
public record HostPort(String host, int port) {

    /** Time limit for one address of several, so that the others are tried within the time that a call waits. */
    private static final int CONNECT_MILLIS = 2_000;

    /** @throws ControlException INVALID_ARGUMENT if {@code text} is not an address */
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
                    Code.INVALID_ARGUMENT,
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

    /**
     * Resolves the address to listen on.
     *
     * @return the first of the host's addresses
     * @throws ControlException UNAVAILABLE if the host has no address
     */
    public InetSocketAddress resolve() {
        return new InetSocketAddress(addresses().getFirst(), port);
    }

    /**
     * Resolves the address to connect to. If the host has several, it is the first on which a process listens, found by
     * connecting to each in turn; a single one is not tried.
     *
     * @param what names the peer in messages, such as "memory server"
     * @throws ControlException UNAVAILABLE if the host has no address, or none of several can be connected to
     */
    public InetSocketAddress reach(String what) {
        return reach(what, addresses());
    }

    InetSocketAddress reach(String what, List<InetAddress> addresses) {
        if (addresses.size() == 1) {
            return new InetSocketAddress(addresses.getFirst(), port);
        }
        List<String> tried = new ArrayList<>();
        for (InetAddress address : addresses) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(address, port), Math.toIntExact(TimeLimit.of(CONNECT_MILLIS)));
                return new InetSocketAddress(address, port);
            } catch (IOException e) {
                tried.add(new HostPort(address.getHostAddress(), port) + " (" + e.getMessage() + ")");
            }
        }
        throw new ControlException(
                Code.UNAVAILABLE,
                what + " " + this + " cannot be reached at any of its addresses: " + String.join(", ", tried));
    }

    private List<InetAddress> addresses() {
        try {
            return List.of(InetAddress.getAllByName(host));
        } catch (UnknownHostException e) {
            throw new ControlException(Code.UNAVAILABLE, "host \"" + host + "\" of " + this + " has no address", e);
        }
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
