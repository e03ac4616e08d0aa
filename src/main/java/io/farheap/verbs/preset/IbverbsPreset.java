package io.farheap.verbs.preset;

import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;
import org.jspecify.annotations.NullMarked;

/**
 * The part of {@code <infiniband/verbs.h>} that JavaCPP maps: the structures and enumerations of reliable connections,
 * listed by name. Functions come from the shim, which gives symbols to those that the header defines as macros and
 * inline functions. The generated package is {@code io.farheap.verbs.binding}; it is not committed.
 */
@NullMarked
@Properties(
        value =
                @Platform(
                        value = "linux",
                        include = {"<infiniband/verbs.h>", "verbs_shim.h"},
                        link = "farheap_shim#"),
        target = "io.farheap.verbs.binding",
        global = "io.farheap.verbs.binding.ibverbs")
public class IbverbsPreset implements InfoMapper {

    private static final String[] STRUCTURES = {
        "ibv_device_attr", "ibv_port_attr", "ibv_wc", "ibv_pd", "ibv_mr", "ibv_global_route", "ibv_ah_attr",
                "ibv_qp_cap",
        "ibv_qp_init_attr", "ibv_qp_attr", "ibv_sge", "ibv_send_wr", "ibv_recv_wr", "ibv_qp", "ibv_comp_channel",
                "ibv_cq",
        "ibv_context"
    };

    private static final String[] ENUMERATIONS = {
        "ibv_atomic_cap",
        "ibv_mtu",
        "ibv_port_state",
        "ibv_event_type",
        "ibv_wc_status",
        "ibv_wc_opcode",
        "ibv_access_flags",
        "ibv_qp_type",
        "ibv_mig_state",
        "ibv_qp_attr_mask",
        "ibv_qp_state",
        "ibv_wr_opcode",
        "ibv_send_flags"
    };

    /** Pointers to types that are not mapped: Java only passes them on. */
    private static final String[] OPAQUE = {"ibv_device", "ibv_srq", "ibv_mw", "ibv_ah", "ibv_mw_bind"};

    @Override
    public void map(InfoMap map) {
        List<String> ranges = new ArrayList<>();
        for (String structure : STRUCTURES) {
            ranges.add("struct " + structure + " \\{");
            ranges.add("\\};");
            map.put(new Info(structure).pointerTypes(structure));
        }
        for (String enumeration : ENUMERATIONS) {
            ranges.add("enum " + enumeration + " \\{");
            ranges.add("\\};");
            map.put(new Info(enumeration).cast().valueTypes("int").pointerTypes("IntPointer"));
        }
        for (String opaque : OPAQUE) {
            map.put(new Info(opaque).cast().pointerTypes("Pointer"));
        }
        map.put(new Info("verbs.h").linePatterns(ranges.toArray(String[]::new)))
                .put(new Info("__be16", "__u16").cast().valueTypes("short"))
                .put(new Info("__be32", "__u32").cast().valueTypes("int"))
                .put(new Info("__be64", "__u64").cast().valueTypes("long"))
                .put(new Info("IBV_ACCESS_RELAXED_ORDERING").skip())
                .put(new Info("ibv_gid").cast().pointerTypes("Pointer"))
                .put(new Info("pthread_mutex_t", "pthread_cond_t").cast().pointerTypes("Pointer"))
                // Not needed: post and poll are called through the addresses that the shim reads from these operations.
                .put(new Info(
                                "ibv_context::ops",
                                "ibv_context::mutex",
                                "ibv_cq::mutex",
                                "ibv_cq::cond",
                                "ibv_qp::mutex",
                                "ibv_qp::cond",
                                "ibv_global_route::dgid")
                        .skip())
                // The fields of the tag-matching, memory-window and segmentation unions serve other transports.
                .put(new Info("ibv_send_wr::bind_mw", "ibv_send_wr::tso", "ibv_wc::invalidated_rkey").skip());
    }
}
