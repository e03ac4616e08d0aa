package io.farheap.control.grpc;

import io.farheap.control.ServerDescription;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpaceGrowth;
import io.farheap.control.plane.SpacePlane;
import io.farheap.control.text.PrintableText;
import io.farheap.control.wire.ExtendSpaceReply;
import io.farheap.control.wire.GrowSpaceReply;
import io.farheap.control.wire.ListSpacesReply;
import io.farheap.control.wire.SpaceReply;
import java.util.ArrayList;
import java.util.List;

/** Reads a server's replies about shared spaces, and refuses those that are not valid; see {@link ReplyReader}. */
final class SpaceReplyReader {

    private SpaceReplyReader() {}

    /** @param asked how many regions were asked for; 0 for any number */
    static SpaceGrant space(SpaceReply reply, int asked, ServerDescription server) {
        if (reply.getSpaceId() == SpacePlane.ANY_SPACE) {
            throw ReplyReader.wrong("a space with id 0");
        }
        int bytes = reply.getDescription().size();
        if (bytes > SpacePlane.MAX_DESCRIPTOR_BYTES) {
            throw ReplyReader.wrong(
                    "a space's descriptor of " + bytes + " bytes; it has at most " + SpacePlane.MAX_DESCRIPTOR_BYTES);
        }
        int regions = reply.getRegionsCount();
        if (regions < Math.max(1, asked)) {
            throw ReplyReader.wrong("a space of " + regions + " regions; it has at least " + Math.max(1, asked));
        }
        return new SpaceGrant(
                reply.getSpaceId(),
                reply.getOpeningId(),
                reply.getDescription().toByteArray(),
                millis(reply.getMillisLeft()),
                ReplyReader.grants(reply.getRegionsList(), regions, server));
    }

    /** @param asked how many regions were asked for */
    static SpaceGrowth growth(GrowSpaceReply reply, int asked, ServerDescription server) {
        int first = reply.getFirst();
        if (first < 1 || first > server.totalRegions() - asked) {
            throw ReplyReader.wrong("a space that has grown by " + asked + " regions from its region "
                    + Integer.toUnsignedString(first) + " on; the server has " + server.totalRegions());
        }
        return new SpaceGrowth(first, ReplyReader.grants(reply.getRegionsList(), asked, server));
    }

    static long extended(ExtendSpaceReply reply) {
        return millis(reply.getMillisLeft());
    }

    static List<SpaceInfo> list(ListSpacesReply reply, ServerDescription server) {
        List<SpaceInfo> spaces = new ArrayList<>(reply.getSpacesCount());
        for (io.farheap.control.wire.SpaceInfo space : reply.getSpacesList()) {
            int regions = space.getRegions();
            if (regions < 1 || regions > server.totalRegions() || space.getLeases() < 0) {
                throw ReplyReader.wrong("a space of " + Integer.toUnsignedString(regions) + " regions that "
                        + Integer.toUnsignedString(space.getLeases()) + " leases have open");
            }
            spaces.add(new SpaceInfo(
                    PrintableText.escaped(space.getName(), SpaceKey.MAX_NAME_LENGTH),
                    regions,
                    millis(space.getMillisLeft()),
                    space.getLeases()));
        }
        return spaces;
    }

    private static long millis(long left) {
        if (left < 0 || left > SpacePlane.MAX_MILLIS) {
            throw ReplyReader.wrong("a space that lives " + Long.toUnsignedString(left) + " ms; it lives at most "
                    + SpacePlane.MAX_MILLIS);
        }
        return left;
    }
}
