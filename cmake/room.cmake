# room(NAME LINKS...): one static library of every .cc in the current folder (not its subfolders).
# Rooms with no .cc are interface libraries. json is the slow header: rooms share one precompiled copy.
function(room name)
  cmake_parse_arguments(ROOM "" "" "DIRS;LINKS" ${ARGN})
  if(NOT ROOM_DIRS)
    set(ROOM_DIRS .)
  endif()
  set(sources "")
  foreach(dir IN LISTS ROOM_DIRS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cc)
    list(FILTER found EXCLUDE REGEX "/main\\.cc$|_main\\.cc$")
    list(APPEND sources ${found})
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ROOM_LINKS} nlohmann_json::nlohmann_json)
    if(NOT TARGET pch_json)
      file(WRITE ${CMAKE_BINARY_DIR}/pch_json.cc "")
      add_library(pch_json STATIC ${CMAKE_BINARY_DIR}/pch_json.cc)
      target_link_libraries(pch_json PUBLIC nlohmann_json::nlohmann_json)
      target_precompile_headers(pch_json PRIVATE <nlohmann/json.hpp> <functional> <map> <memory>
                                <optional> <string> <string_view> <variant> <vector>)
    endif()
    target_precompile_headers(${name} REUSE_FROM pch_json)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ROOM_LINKS} nlohmann_json::nlohmann_json)
  endif()
endfunction()

# program(NAME MAIN LINKS...): an executable whose main() wires the rooms by hand.
# `programs` builds them all, without the tests.
add_custom_target(programs)
function(program name main)
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${ARGN})
  target_precompile_headers(${name} REUSE_FROM pch_json)
  add_dependencies(programs ${name})
endfunction()

# one_unit(ROOM FILE...): files of a room that are compiled as one, because each would pay for the same
# slow header again. CLI11 costs eight seconds wherever it is included, used or not, so a precompiled
# copy gains little. Names in their unnamed namespaces must differ.
function(one_unit name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${name})
endfunction()
